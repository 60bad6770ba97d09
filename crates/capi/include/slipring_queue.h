/* The host-to-device command queue: a simulated board as a host program meets it.
 *
 * The device works inside of these calls only, one thread at a time. Calls give 0, or -1 and a message by slipring_error(). Numbers of
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

#ifdef __cplusplus
}
#endif
#endif
