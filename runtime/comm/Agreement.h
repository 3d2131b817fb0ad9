// Ranks compare what they are about to run, before the first step.
#ifndef DLRT_COMM_AGREEMENT_H
#define DLRT_COMM_AGREEMENT_H

#include "runtime/base/Status.h"
#include "runtime/comm/Transport.h"

#include <string>
#include <utility>
#include <vector>

namespace dlrt {

/// What a rank says of itself. Facts are names with values, the same names in
/// the same order on all ranks of one binary: what differs is named.
struct RankFacts {
  std::string host;
  std::vector<std::pair<std::string, std::string>> facts;
  Status failure; ///< what keeps this rank from running, if anything does
};

/// The rank's facts as bytes, and back. Bytes that are none give a failure.
std::vector<uint8_t> packFacts(const RankFacts &facts);
RankFacts unpackFacts(const std::vector<uint8_t> &bytes);

/// What is wrong with the ranks' facts, or ok. A failure that all ranks share
/// is theirs; any other disagreement is a plan error that names who differs
/// from the others, and in what.
Status compareFacts(const std::vector<RankFacts> &ranks);

/// All ranks tell theirs, all compare: all get the same answer.
Status agree(Transport &transport, const RankFacts &mine);

} // namespace dlrt

#endif
