/* The plug-in: the standard's calls and nothing else, so that any MPI will do.
 */
#include "runtime/comm/mpi/PluginInterface.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MPI counts in int; larger messages go in pieces. */
static const uint64_t pieceBytes = (uint64_t)1 << 30;

struct DlrtMpiExchange {
  int count;
  MPI_Request requests[];
};

/* Messages of exchanges, and the calls of all ranks: apart, so that they cannot
 * meet. */
static MPI_Comm messages = MPI_COMM_NULL, together = MPI_COMM_NULL;
static int rankInRun, sizeOfRun;
static uint64_t tagLimit = 32767;
static char error[MPI_MAX_ERROR_STRING + 64];
static char libraryText[MPI_MAX_LIBRARY_VERSION_STRING + 1];

static const char *failed(int code, const char *call) {
  char text[MPI_MAX_ERROR_STRING + 1];
  int length = 0;
  if (code == MPI_SUCCESS)
    return NULL;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
    length = 0;
  text[length] = 0;
  snprintf(error, sizeof error, "%s: %s", call, text);
  return error;
}

#define TRY(call, name)                                                        \
  do {                                                                         \
    const char *tried = failed(call, name);                                    \
    if (tried)                                                                 \
      return tried;                                                            \
  } while (0)

static const char *start(void) {
  int initialised = 0, level = 0, length = 0, found = 0;
  int *limit = NULL;
  TRY(MPI_Initialized(&initialised), "MPI_Initialized");
  if (initialised)
    return "MPI has been started already";
  TRY(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level),
      "MPI_Init_thread");
  if (level < MPI_THREAD_SERIALIZED)
    return "this MPI was built without MPI_THREAD_SERIALIZED";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  TRY(MPI_Comm_dup(MPI_COMM_WORLD, &messages), "MPI_Comm_dup");
  TRY(MPI_Comm_dup(MPI_COMM_WORLD, &together), "MPI_Comm_dup");
  TRY(MPI_Comm_rank(messages, &rankInRun), "MPI_Comm_rank");
  TRY(MPI_Comm_size(messages, &sizeOfRun), "MPI_Comm_size");
  if (MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found) ==
          MPI_SUCCESS &&
      found)
    tagLimit = (uint64_t)*limit;
  TRY(MPI_Get_library_version(libraryText, &length), "MPI_Get_library_version");
  libraryText[strcspn(libraryText, ",\n")] = 0;
  return NULL;
}

static uint32_t rank(void) { return (uint32_t)rankInRun; }
static uint32_t size(void) { return (uint32_t)sizeOfRun; }
static const char *library(void) { return libraryText; }

static uint64_t pieces(uint64_t bytes) {
  return bytes == 0 ? 0 : (bytes + pieceBytes - 1) / pieceBytes;
}

static const char *prepareMessage(DlrtMpiExchange *exchange,
                                  const DlrtMpiMessage *message, int tag) {
  uint64_t done = 0;
  while (done < message->size) {
    uint64_t left = message->size - done;
    int count = (int)(left < pieceBytes ? left : pieceBytes);
    char *bytes = (char *)message->bytes + done;
    MPI_Request *request = &exchange->requests[exchange->count];
    if (message->isSend)
      TRY(MPI_Send_init(bytes, count, MPI_BYTE, (int)message->peer, tag,
                        messages, request),
          "MPI_Send_init");
    else
      TRY(MPI_Recv_init(bytes, count, MPI_BYTE, (int)message->peer, tag,
                        messages, request),
          "MPI_Recv_init");
    ++exchange->count;
    done += (uint64_t)count;
  }
  return NULL;
}

static void drop(DlrtMpiExchange *exchange) {
  int i;
  for (i = 0; i < exchange->count; ++i)
    MPI_Request_free(&exchange->requests[i]);
  free(exchange);
}

static const char *prepare(const DlrtMpiMessage *list, uint32_t count,
                           uint64_t tag, DlrtMpiExchange **out) {
  uint64_t most = 0;
  uint32_t i;
  DlrtMpiExchange *exchange;
  for (i = 0; i < count; ++i)
    most += pieces(list[i].size);
  exchange = malloc(sizeof *exchange + most * sizeof(MPI_Request));
  if (!exchange)
    return "out of memory";
  exchange->count = 0;
  for (i = 0; i < count; ++i) {
    const char *why =
        prepareMessage(exchange, &list[i], (int)(tag % (tagLimit + 1)));
    if (why) {
      drop(exchange);
      return why;
    }
  }
  *out = exchange;
  return NULL;
}

static const char *begin(DlrtMpiExchange *exchange) {
  /* One by one: MPI_Startall may start them in any order. */
  int i;
  for (i = 0; i < exchange->count; ++i)
    TRY(MPI_Start(&exchange->requests[i]), "MPI_Start");
  return NULL;
}

static const char *test(DlrtMpiExchange *exchange, int32_t *finished) {
  int flag = 0;
  TRY(MPI_Testall(exchange->count, exchange->requests, &flag,
                  MPI_STATUSES_IGNORE),
      "MPI_Testall");
  *finished = flag;
  return NULL;
}

static const char *gatherSizes(uint64_t mine, uint64_t *all) {
  return failed(
      MPI_Allgather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, together),
      "MPI_Allgather");
}

/* What is gathered is small: facts of each rank. */
static const char *gather(const void *mine, const uint64_t *sizes, void *all) {
  int *counts = malloc(2 * (size_t)sizeOfRun * sizeof(int));
  uint64_t total = 0;
  int r, code;
  if (!counts)
    return "out of memory";
  for (r = 0; r < sizeOfRun; ++r) {
    counts[r] = (int)sizes[r];
    counts[sizeOfRun + r] = (int)total;
    total += sizes[r];
    if (total > pieceBytes) {
      free(counts);
      return "more than 1 GiB to gather";
    }
  }
  code = MPI_Allgatherv(mine, counts[rankInRun], MPI_BYTE, all, counts,
                        counts + sizeOfRun, MPI_BYTE, together);
  free(counts);
  return failed(code, "MPI_Allgatherv");
}

static const char *broadcast(uint32_t from, void *bytes, uint64_t count) {
  uint64_t done = 0;
  while (done < count) {
    uint64_t left = count - done;
    int piece = (int)(left < pieceBytes ? left : pieceBytes);
    TRY(MPI_Bcast((char *)bytes + done, piece, MPI_BYTE, (int)from, together),
        "MPI_Bcast");
    done += (uint64_t)piece;
  }
  return NULL;
}

static const char *barrier(void) {
  return failed(MPI_Barrier(together), "MPI_Barrier");
}

static void finish(void) { MPI_Finalize(); }

static void stop(int32_t code) { MPI_Abort(MPI_COMM_WORLD, code); }

static const DlrtMpiPlugin plugin = {DLRT_MPI_INTERFACE,
                                     start,
                                     rank,
                                     size,
                                     library,
                                     prepare,
                                     begin,
                                     test,
                                     drop,
                                     gatherSizes,
                                     gather,
                                     broadcast,
                                     barrier,
                                     finish,
                                     stop};

const DlrtMpiPlugin *dlrtMpiPlugin(void);
const DlrtMpiPlugin *dlrtMpiPlugin(void) { return &plugin; }
