#include "decide/resolved_encode.h"

#include <utility>

#include "c63/thread_arena.h"
#include "decide/planner.h"
#include "decide/presets.h"

namespace c63 {

ResolvedEncode resolve(EncoderSettings settings, PlannerFactory planners) {
  ExecutionSettings& execution = settings.execution;
  if (!execution.arena) execution.arena = std::make_shared<ThreadArena>(execution.threads);
  if (!planners) planners = make_planner_factory(settings.coding);
  ResolvedEncode encode{.settings = std::move(settings), .geometry = {}, .planners = std::move(planners), .lookahead = {}, .rate = {}};
  const CodingSettings& coding = encode.settings.coding;
  encode.geometry = Geometry(coding.width, coding.height);
  encode.lookahead = encode.planners()->lookahead(0);
  encode.rate = preset_decisions(coding).rate;
  return encode;
}

}  // namespace c63
