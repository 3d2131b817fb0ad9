// Signals: polite ones end the run after its step, faults name their kernel.
#ifndef DLRUN_SIGNALS_H
#define DLRUN_SIGNALS_H

namespace dlrun {

/// SIGINT, SIGTERM and, unless it is ignored, SIGHUP are noted; a second SIGINT
/// or SIGTERM ends the process at once.
void installStopSignals();
bool isIgnored(int signal);
/// A reader that has gone away (`| tee`, which Ctrl-C ends first) and a file
/// that may not grow are errors of the write alone.
void surviveLostOutputs();
/// SIGUSR1, too: batch systems announce the end of a job's time with it.
void installCheckpointSignal();
/// Under `dlrun -np`: SIGUSR1 and SIGUSR2 stand for SIGTERM and SIGINT of the
/// one that has started them; another SIGTERM, later than the first, ends the
/// process at once.
void installWatchedSignals();
/// The signal if one has arrived, else 0.
int stopSignal();

/// A fault prints what ran and exits with code 70 (4 for a mapped file that
/// got shorter).
void installFaultHandlers();

} // namespace dlrun

#endif
