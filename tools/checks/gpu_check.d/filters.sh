# shellcheck shell=bash disable=SC2154  # dir and work are gpu_check's
# The section of tools/gpu_check that measures filters and scans: each variant, compared with serial code on the CPU and with
# the rate of a copy. tools/checks/result_tables makes tables of it. The sections tests and sanitizer run these kernels, too.

section_bench_filters() {
  local bench arguments=(--no-cpu --mb 1024 --repeats 15)
  for bench in filter scan; do
    "$dir/c63bench" "$bench" "${arguments[@]}" --json "$work/$bench.json" || return 1
  done
  {
    printf '{"machine": {"gpu": "%s", "driver": "%s"}, ' \
      "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)" \
      "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)"
    printf '"command": ["c63bench filter %s", "c63bench scan %s"], ' "${arguments[*]}" "${arguments[*]}"
    printf '"filter": %s, "scan": %s}\n' "$(cat "$work/filter.json")" "$(cat "$work/scan.json")"
  } > "$work/bench_filters.json"
}
