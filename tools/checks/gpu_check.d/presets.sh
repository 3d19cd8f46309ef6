# shellcheck shell=bash disable=SC2154  # dir and work are gpu_check's
# Sections of tools/gpu_check for presets with decisions by rate and distortion. They measure the stages of a frame, and whole
# encodes.

section_bench_decide() {
  "$dir/c63bench" decide --sizes 352x288,1920x1080 --preset fast,good --lanes 16 --repeats 7 --json "$work/bench_decide.json"
}

section_bench_presets() {
  "$dir/c63bench" encode --preset fast,good --sizes 1920x1080,352x288 --from memory,page-locked,device --lanes 0,64 --keyint 50 \
    --gops 64 --repeats 3 --json "$work/bench_presets.json"
}

section_bench_best() {
  "$dir/c63bench" encode --preset best --sizes 1920x1080,352x288 --from page-locked --lanes 0 --keyint 40 --gops 64 --repeats 3 \
    --json "$work/bench_best.json"
}

# Compares presets reference, fast and good on both backends: times, bytes, and bits saved.
section_ab_presets() {
  local source=$dir/shared/sequences/foreman_352x288.yuv backend preset sides=()
  if [[ ! -x $dir/c63cmp || ! -f $source ]]; then
    echo '{"skipped": "the bundle carries no c63cmp, or no foreman"}' > "$work/ab_presets.json"
    return 0
  fi
  for backend in cpu cuda; do
    for preset in reference fast good; do sides+=(--side "$backend $preset=--backend $backend --preset $preset"); done
  done
  "$dir/c63cmp" ab "$source" --c63enc "$dir/c63enc" --no-pictures "${sides[@]}" --qp 10,15,20,25 \
    --frames 150 --warmup 0 --repeat 3 --json "$work/ab_presets.json"
}
