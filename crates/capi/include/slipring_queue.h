/* The host-to-device command queue: a simulated board as a host program meets it.
 *
 * The device works inside of these calls only. A board is used by the thread that made it: calls of another give SLIPRING_THREAD and
 * do nothing (those that give no code give 0 or NULL). Calls give 0, or a negative code and a message by slipring_error(). Numbers of
 * pinned memory and of windows are those that slipring_pin, slipring_pin_memory and slipring_open gave.
 */
#ifndef SLIPRING_QUEUE_H
#define SLIPRING_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slipring_board slipring_board;

/* What calls give: anything else that is wrong, a range outside of a window or of pinned memory, another thread. */
enum { SLIPRING_OK = 0, SLIPRING_ERROR = -1, SLIPRING_RANGE = -2, SLIPRING_THREAD = -3 };

/* Bytes of the two kinds of window. */
#define SLIPRING_SMALL ((uint64_t)2 << 20)
#define SLIPRING_LARGE ((uint64_t)4 << 30)

/* How stores through a window are ordered. */
enum { SLIPRING_RELAXED = 0, SLIPRING_STRICT = 1, SLIPRING_POSTED = 2 };

/* Where a window looks: a tile (x0 = x1, y0 = y1), or a rectangle of tiles that stores reach all of. */
typedef struct slipring_target {
    uint8_t x0, y0, x1, y1;
    uint8_t multicast; /* 1: stores go to the whole rectangle, and nothing can be loaded */
    uint8_t noc;       /* 0 or 1 */
    uint8_t ordering;
    uint64_t addr; /* of the window's first byte in the tiles: a multiple of its size */
} slipring_target;

/* A machine of a board, "p100" or "p150". silicon = 0: it stops at the first error; 1: it goes on as a board does. seed chooses delays; NULL:
 * the usual ones. NULL if there is no such board; the reason is then in message, at most size bytes. */
slipring_board *slipring_new(const char *board, int silicon, const uint64_t *seed, char *message, size_t size);
/* The same with settings, a line "name=value" each: board (p100, p150, or a file my.toml), mode (strict, silicon), seed, late (a kind of
 * delay), allow (the code of a hazard that is accepted; several times), steps and dram-bytes (limits), trace and record (true: keep who
 * did what when, and what is queued), queues (1 or 2 on the board),
 * base-from-launch (true: kernels of the queue find their semaphores by their launch messages),
 * layout.NAME (a field of the memory map, such as layout.kernel_config_base or layout.worker.go). */
slipring_board *slipring_new_with(const char *settings, char *message, size_t size);
void slipring_free(slipring_board *board);

/* The last error of the board, or "": until the next call. */
const char *slipring_error(slipring_board *board);

/* Pins bytes, zeroed: their number, and the address where the device sees them. */
int slipring_pin(slipring_board *board, uint64_t bytes, uint32_t *number, uint64_t *address);
/* Pins memory that the host has: it is used where it is, in calls, until it is unpinned. What the host stores there by itself takes no
 * time of the board and is not checked. */
int slipring_pin_memory(slipring_board *board, void *memory, size_t bytes, uint32_t *number, uint64_t *address);
int slipring_unpin(slipring_board *board, uint32_t number);
int slipring_host_read(slipring_board *board, uint32_t number, uint64_t offset, void *out, size_t bytes);
int slipring_host_write(slipring_board *board, uint32_t number, uint64_t offset, const void *data, size_t bytes);

/* Opens a window of SLIPRING_SMALL or SLIPRING_LARGE bytes. */
int slipring_open(slipring_board *board, uint64_t bytes, const slipring_target *target, uint32_t *window);
int slipring_retarget(slipring_board *board, uint32_t window, const slipring_target *target);
int slipring_close(slipring_board *board, uint32_t window);
/* One load or store for 1, 2, 4 or 8 aligned bytes, else a burst. */
int slipring_read(slipring_board *board, uint32_t window, uint64_t offset, void *out, size_t bytes);
int slipring_write(slipring_board *board, uint32_t window, uint64_t offset, const void *data, size_t bytes);
int slipring_write32(slipring_board *board, uint32_t window, uint64_t offset, uint32_t value);

/* A register of the management core. */
int slipring_register(slipring_board *board, uint64_t offset, uint32_t *value);
/* Lets time pass. */
int slipring_wait(slipring_board *board, uint64_t nanoseconds);
/* Nanoseconds since the machine was made. */
uint64_t slipring_now(const slipring_board *board);
/* Memory of a tile as it is, without taking time. */
int slipring_peek(slipring_board *board, uint8_t x, uint8_t y, uint64_t addr, void *out, size_t bytes);
/* How many findings there are, and the text of one, or "": until the next call. */
size_t slipring_findings(slipring_board *board);
const char *slipring_finding(slipring_board *board, size_t at);
/* How often a hazard was met that is allowed. */
uint64_t slipring_allowed(slipring_board *board, const char *code);

/* How far the machine has come. */
typedef struct slipring_status {
    uint64_t cycle, announced, queued; /* device cycles; records announced; of these, slots that are still full */
    uint64_t commands[3];              /* of prefetcher, dispatcher, subordinate */
    uint64_t credits, pages;           /* pages that the prefetcher could take; pages that the dispatcher has to run */
    uint64_t completions, flights;     /* pages of the completion ring that wait for the host; transfers under way */
    uint64_t running, launches;        /* workers that run; launches so far */
} slipring_status;
int slipring_state(slipring_board *board, slipring_status *status);
/* Who waits for what, if nothing can happen by itself any more, else "": until the next call. */
const char *slipring_diagnose(slipring_board *board);
/* Writes who did what when as lines of comma-separated values; writes what the host did as a stream that `slipring queue` reads: records,
 * and what it stored, loaded, polled and pinned. */
int slipring_trace(slipring_board *board, const char *file);
int slipring_record(slipring_board *board, const char *file);

/* What workers do with a launch, in place of acknowledging it: a function that reads (at once), writes (what is there when the worker's
 * time is over), and gives the cycles that this takes, or a negative number if it cannot. A job is for the time of its call, in which
 * calls of boards give SLIPRING_ERROR. Set while no worker runs. */
typedef struct slipring_job slipring_job;
typedef int64_t (*slipring_worker)(void *context, slipring_job *job);
int slipring_set_worker(slipring_board *board, slipring_worker function, void *context);
/* Its tile, and its number among the workers, row by row; pointers may be NULL. The 96 bytes of its launch message. */
int slipring_job_place(const slipring_job *job, uint8_t *x, uint8_t *y, uint32_t *worker);
const unsigned char *slipring_job_launch(const slipring_job *job);
/* L1, a DRAM bank, host memory at its address: 0, or -1 if there are no such bytes. */
int slipring_job_read(slipring_job *job, uint32_t addr, void *out, size_t bytes);
int slipring_job_write(slipring_job *job, uint32_t addr, const void *data, size_t bytes);
int slipring_job_read_dram(slipring_job *job, uint32_t bank, uint64_t addr, void *out, size_t bytes);
int slipring_job_write_dram(slipring_job *job, uint32_t bank, uint64_t addr, const void *data, size_t bytes);
int slipring_job_read_host(slipring_job *job, uint64_t address, void *out, size_t bytes);
int slipring_job_write_host(slipring_job *job, uint64_t address, const void *data, size_t bytes);
/* Why the function cannot: -1, to be returned. */
int64_t slipring_job_fail(slipring_job *job, const char *why);

/* Streams: text or the binary form. settings are those of slipring_new_with, or NULL; their board comes before that of the stream. NULL
 * (or 0) is an error, and message says which. */
typedef struct slipring_judged slipring_judged;
/* Writes a stream as text, cut to what there is room for; the bytes of the whole text with its end. */
size_t slipring_decode(const void *data, size_t bytes, char *out, size_t capacity, char *message, size_t size);
/* Judges a stream without running it. */
slipring_judged *slipring_lint(const void *data, size_t bytes, const char *settings, char *message, size_t size);
/* Runs a stream; workers acknowledge launches after so many cycles. */
slipring_judged *slipring_run(
    const void *data, size_t bytes, const char *settings, uint64_t kernel_cycles, char *message, size_t size);
void slipring_judged_free(slipring_judged *judged);
/* Findings: how many, and code and text of one, or NULL where there is none. What was not judged: NULL behind the last. */
size_t slipring_judged_findings(const slipring_judged *judged);
const char *slipring_judged_code(const slipring_judged *judged, size_t at);
const char *slipring_judged_text(const slipring_judged *judged, size_t at);
const char *slipring_judged_open(const slipring_judged *judged, size_t at);
/* Whether everything ran (1 for a stream that was judged only), cycles, events (how many; the first ones are written), and how often a
 * hazard was met that is allowed. */
int slipring_judged_complete(const slipring_judged *judged);
uint64_t slipring_judged_cycles(const slipring_judged *judged);
size_t slipring_judged_events(const slipring_judged *judged, uint32_t *events, size_t capacity);
uint64_t slipring_judged_allowed(const slipring_judged *judged, const char *code);

#ifdef __cplusplus
}
#endif
#endif
