// Signals: polite ones end the run after its step, faults name their kernel.
#ifndef DLRUN_SIGNALS_H
#define DLRUN_SIGNALS_H

namespace dlrun {

/// SIGINT and SIGTERM are noted; a second one ends the process at once.
void installStopSignals();
/// SIGUSR1, too: batch systems announce the end of a job's time with it.
void installCheckpointSignal();
/// Under `dlrun -np`: SIGUSR1 and SIGUSR2 stand for SIGTERM and SIGINT, SIGTERM
/// ends the process at once, for the run is lost.
void installWatchedSignals();
/// The signal if one has arrived, else 0.
int stopSignal();

/// A fault prints what ran and exits with code 70 (4 for a mapped file that
/// got shorter).
void installFaultHandlers();

} // namespace dlrun

#endif
