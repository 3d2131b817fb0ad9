/* What dlrun calls in the plug-in that was built against the site's MPI. Plain
 * C, so that the plug-in may come from another compiler than dlrun. A call that
 * returns a text has failed with it; the text stays until the next call. No two
 * threads are in the plug-in at once. */
#ifndef DLRT_COMM_MPI_PLUGININTERFACE_H
#define DLRT_COMM_MPI_PLUGININTERFACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Goes up with every change. */
#define DLRT_MPI_INTERFACE 1
#define DLRT_MPI_SYMBOL "dlrtMpiPlugin"

typedef struct {
  void *bytes;
  uint64_t size;
  uint32_t peer;
  int32_t isSend;
} DlrtMpiMessage;

typedef struct DlrtMpiExchange DlrtMpiExchange;

typedef struct {
  uint32_t interface;

  /* Joins the run. */
  const char *(*start)(void);
  uint32_t (*rank)(void);
  uint32_t (*size)(void);
  const char *(*library)(void);

  /* Messages that are started together, again and again. */
  const char *(*prepare)(const DlrtMpiMessage *messages, uint32_t count,
                         uint64_t tag, DlrtMpiExchange **out);
  const char *(*begin)(DlrtMpiExchange *exchange);
  const char *(*test)(DlrtMpiExchange *exchange, int32_t *finished);
  void (*drop)(DlrtMpiExchange *exchange);

  /* All ranks. `all` has room for a value of each rank. */
  const char *(*gatherSizes)(uint64_t mine, uint64_t *all);
  /* `all` has the ranks' bytes one after the other. */
  const char *(*gather)(const void *mine, const uint64_t *sizes, void *all);
  const char *(*broadcast)(uint32_t from, void *bytes, uint64_t size);
  const char *(*barrier)(void);

  /* Leaves the run. */
  void (*finish)(void);
  void (*abort)(int32_t code);
} DlrtMpiPlugin;

typedef const DlrtMpiPlugin *(*DlrtMpiEntry)(void);

#ifdef __cplusplus
}
#endif

#endif
