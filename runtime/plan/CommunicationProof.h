// Proves that what ranks say to one another fits, and that nobody waits for
// ever.
#ifndef DLRT_PLAN_COMMUNICATIONPROOF_H
#define DLRT_PLAN_COMMUNICATIONPROOF_H

#include "runtime/base/Status.h"
#include "runtime/plan/PlanSet.h"

namespace dlrt {

/// All of the following, for plans that have been validated.
Status verifyCommunication(const PlanSet &set);

/// Executes every program of all ranks, as far as they communicate, with sends
/// that end when they have been received. Refuses programs that do not come to
/// their end, and exchanges whose members go along different axes or disagree
/// about who sends how many bytes to whom. Ranks of one plan are executed
/// together: it takes time in the plans' exchanges and the sizes of groups,
/// not in the number of ranks.
Status executeCommunication(const PlanSet &set);

/// The numbers of a program's exchanges ascend. A command waits for earlier
/// ones only, so a device that takes exchanges one after the other comes to the
/// end, and so does one that has several under way: the first that is not
/// finished has all that it waits for, on each of its ranks.
Status checkCommunicationOrder(const fb::PlanT &plan);

/// Each temporary that a kernel reads has been written by a command before it.
/// Asked where several ranks run the plans, for an exchange that all of a group
/// leave out leaves nobody waiting.
Status checkWhatIsRead(const fb::PlanT &plan);

} // namespace dlrt

#endif
