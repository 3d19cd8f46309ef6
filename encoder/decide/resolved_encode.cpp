#include "decide/resolved_encode.h"

#include <memory>
#include <utility>

#include "c63/thread_pool.h"
#include "decide/planner.h"

namespace c63 {

ResolvedEncode resolve(EncoderSettings settings, PlannerFactory planners) {
  ExecutionSettings& execution = settings.execution;
  if (!execution.pool) execution.pool = std::make_shared<ThreadPool>(execution.threads);
  if (!planners) planners = make_planner_factory(settings.coding);
  ResolvedEncode encode{.settings = std::move(settings), .geometry = {}, .planners = std::move(planners), .lookahead = {}, .rate = {}};
  const CodingSettings& coding = encode.settings.coding;
  encode.geometry = Geometry(coding.width, coding.height);
  const std::unique_ptr<Planner> planner = encode.planners();
  encode.lookahead = planner->lookahead(0);
  encode.rate = planner->rate();
  return encode;
}

}  // namespace c63
