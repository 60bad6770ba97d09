/* A host in C: windows, pinned memory of its own, errors. Prints what it saw. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "slipring_queue.h"

#define DO(call)                                                                   \
    do {                                                                           \
        if ((call) != 0) {                                                         \
            printf("%s: %s\n", #call, slipring_error(board));                      \
            return 1;                                                              \
        }                                                                          \
    } while (0)

static slipring_board *the_board;
static int inside;

/* A worker that doubles a byte of its L1. */
static int64_t doubles(void *context, slipring_job *job) {
    unsigned char byte = 0;
    uint8_t x = 0, y = 0;
    uint32_t worker = 9;
    if (slipring_job_read(job, 0x2000000, &byte, 1) != -1) return -1;
    if (slipring_job_read(job, 0x40000, &byte, 1) != 0) return -1;
    if (byte == 0) return slipring_job_fail(job, "nothing to double");
    byte *= 2;
    if (slipring_job_write(job, 0x40001, &byte, 1) != 0) return -1;
    if (slipring_job_write_dram(job, 0, 0x1000, &byte, 1) != 0) return -1;
    if (slipring_job_write_host(job, (uint64_t)1 << 35, &byte, 1) != -1) return -1;
    slipring_job_place(job, &x, &y, &worker);
    ++*(int *)context;
    inside = slipring_wait(the_board, 1);
    return x == 1 && y == 2 && worker == 0 && slipring_job_launch(job)[76] == 1 ? 700 : -1;
}

/* Launches a worker without the queue. */
static void launch(slipring_board *board, uint32_t window, unsigned char byte) {
    unsigned char message[96] = {0};
    message[42] = 1; /* it tells nobody when it is done */
    message[76] = 1;
    slipring_write(board, window, 0x40000, &byte, 1);
    slipring_write(board, window, 0x70, message, sizeof message);
    slipring_write32(board, window, 0x370, 0x80000000);
    slipring_wait(board, 2000);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    char message[128];
    if (slipring_new("p99", 0, NULL, message, sizeof message) != NULL) return 1;
    printf("p99: %s\n", message);

    uint64_t seed = 3;
    slipring_board *board = slipring_new("p150", 0, &seed, message, sizeof message);
    if (board == NULL) return 1;
    slipring_target tile = {1, 2, 1, 2, 0, 0, SLIPRING_STRICT, 0};
    uint32_t window, number, word = 0;
    DO(slipring_open(board, SLIPRING_SMALL, &tile, &window));
    DO(slipring_write32(board, window, 0x1000, 0x01020304));
    DO(slipring_read(board, window, 0x1000, &word, 4));
    printf("word: %08" PRIx32 "\n", word);

    static unsigned char own[4096];
    uint64_t address;
    own[8] = 42;
    DO(slipring_pin_memory(board, own, sizeof own, &number, &address));
    printf("PCIe: %d\n", (int)(address >> 60 & 1));
    unsigned char byte = 0;
    DO(slipring_host_read(board, number, 8, &byte, 1));
    DO(slipring_host_write(board, number, 9, "\7", 1));
    printf("own memory: %d %d\n", byte, own[9]);
    DO(slipring_unpin(board, number));
    printf("unpinned: %d\n", slipring_host_read(board, number, 8, &byte, 1));
    printf("  %s\n", slipring_error(board));

    uint64_t before = slipring_now(board);
    DO(slipring_wait(board, 1000));
    printf("time passed: %d\n", slipring_now(board) - before >= 1000);
    unsigned char peeked[4];
    DO(slipring_peek(board, 1, 2, 0x1000, peeked, 4));
    printf("peek: %d %d\n", peeked[0], peeked[3]);
    printf("peek outside: %d\n", slipring_peek(board, 255, 255, 0x1000, peeked, 4));
    printf("  %s\n", slipring_error(board));
    slipring_target outside = {99, 99, 99, 99, 0, 0, SLIPRING_STRICT, 0};
    uint32_t none;
    printf("open outside: %d\n", slipring_open(board, SLIPRING_SMALL, &outside, &none));
    DO(slipring_close(board, window));
    printf("closed: %d\n", slipring_read(board, window, 0, &word, 4));
    printf("findings: %zu\n", slipring_findings(board));
    DO(slipring_open(board, SLIPRING_SMALL, &tile, &window));
    printf("out of range: %d\n", slipring_read(board, window, SLIPRING_SMALL - 2, &word, 4));
    slipring_free(board);

    const char *settings = "board=p100\nmode=silicon\nallow=go-before-payload\nlayout.kernel_config_base=0x82b0\nrecord=true\ntrace=true";
    board = slipring_new_with(settings, message, sizeof message);
    if (board == NULL) return 1;
    slipring_status status;
    DO(slipring_state(board, &status));
    printf("status: %d %d\n", (int)status.launches, (int)slipring_allowed(board, "go-before-payload"));
    printf("diagnose: %d\n", strstr(slipring_diagnose(board), "prefetcher") != NULL);
    DO(slipring_record(board, argv[1]));
    DO(slipring_trace(board, argv[1]));
    slipring_free(board);
    if (slipring_new_with("colour=red", message, sizeof message) != NULL) return 1;
    printf("settings: %.24s\n", message);

    board = slipring_new("p100", 0, NULL, message, sizeof message);
    if (board == NULL) return 1;
    int called = 0;
    DO(slipring_set_worker(board, doubles, &called));
    printf("no worker: %d\n", slipring_set_worker(board, NULL, NULL));
    DO(slipring_open(board, SLIPRING_SMALL, &tile, &window));
    the_board = board;
    launch(board, window, 21);
    DO(slipring_peek(board, 1, 2, 0x40001, peeked, 1));
    printf("worker: %d called, %d, %d inside\n", called, peeked[0], inside);
    launch(board, window, 0);
    printf("worker fails: %d\n", strstr(slipring_finding(board, 0), "nothing to double") != NULL);
    slipring_free(board);

    const char *stream = "board p100\nsend WAIT flags=stream stream=47 count=0\nevent\n";
    char text[4096];
    printf("decoded: %d\n", slipring_decode(stream, strlen(stream), text, sizeof text, message, sizeof message) > 100);
    slipring_judged *judged = slipring_lint(stream, strlen(stream), NULL, message, sizeof message);
    if (judged == NULL) return 1;
    printf("lint: %zu %s\n", slipring_judged_findings(judged), slipring_judged_code(judged, 0));
    printf("none: %d\n", slipring_judged_code(judged, 1) == NULL);
    slipring_judged_free(judged);
    judged = slipring_run(stream, strlen(stream), "allow=wait-foreign-stream", 1000, message, sizeof message);
    if (judged == NULL) return 1;
    uint32_t event = 0;
    size_t events = slipring_judged_events(judged, &event, 1);
    printf("run: %d, %zu events, the first %u, %d allowed\n", slipring_judged_complete(judged), events, event,
           (int)slipring_judged_allowed(judged, "wait-foreign-stream"));
    slipring_judged_free(judged);
    /* Where this packed write goes stands in memory: a run names the relay in front of it, which the bytes alone do not show. */
    const char *listed = "board p100\n"
                         "send WRITE_LINEAR noc_xy=(17,13) addr=0x1000\n  > data c2000000 00*12 11*16 00*32\n"
                         "send WAIT flags=barrier\nevent\nwait\n"
                         "record\n  RELAY_INLINE_NOFLUSH\n  > WRITE_PACKED addr=0x40000 size=16 count=1\n"
                         "  RELAY_LINEAR noc_xy=(17,14) addr=0x1000 length=32\n"
                         "record\n  RELAY_INLINE_NOFLUSH\n  > WRITE_LINEAR noc_xy=(1,2) addr=0x40000 length=16\n"
                         "  RELAY_LINEAR noc_xy=(2,3) addr=0x40000 length=16\n";
    judged = slipring_lint(listed, strlen(listed), NULL, message, sizeof message);
    if (judged == NULL) return 1;
    size_t shown = slipring_judged_findings(judged);
    slipring_judged_free(judged);
    judged = slipring_run(listed, strlen(listed), NULL, 1000, message, sizeof message);
    if (judged == NULL) return 1;
    printf("list from memory: %zu, then %zu %s\n", shown, slipring_judged_findings(judged), slipring_judged_code(judged, 0));
    slipring_judged_free(judged);
    if (slipring_lint("send WEIGHT", 11, NULL, message, sizeof message) != NULL) return 1;
    printf("no stream: %.6s\n", message);
    return 0;
}
