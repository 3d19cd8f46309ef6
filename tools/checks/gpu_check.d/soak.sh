# shellcheck shell=bash disable=SC2154  # dir and work are gpu_check's
# Sections of tools/gpu_check that run many encodes in one process. Memory of host and device must not grow.

# flat_memory COUNT FAILED [WHAT]: reads samples of memory, one line "RSS DEVICE" (kB, MiB) each. COUNT is the number of
# encodes (or of WHAT) in the run; FAILED is 1 if the run failed, else 0. Writes the result as JSON. Succeeds if the run did
# not fail, if there are at least 16 samples, and if memory is flat. Encodes take memory and give it back, the driver in
# pieces of 2 MiB, and a sample may come at any moment. So the lowest samples of each quarter of the run are compared: the
# last quarter may exceed the third by at most 2 % in host memory, and by nothing in device memory.
flat_memory() {
  awk -v count="$1" -v failed="$2" -v what="${3:-encodes}" 'BEGIN { n = 0 }
    NF == 2 { rss[n] = $1; device[n++] = $2 }
    function least(of, quarter, i, value) {
      value = of[int(n * quarter / 4)]
      for (i = int(n * quarter / 4); i < int(n * (quarter + 1) / 4); ++i) if (of[i] < value) value = of[i]
      return value
    }
    function four(of) { return least(of, 0) ", " least(of, 1) ", " least(of, 2) ", " least(of, 3) }
    END {
      flat = !failed && n >= 16 && least(rss, 3) <= 1.02 * least(rss, 2) && least(device, 3) <= least(device, 2)
      printf "{\"%s\": %d, \"samples\": %d, \"rss_kb\": [%s], \"device_mib\": [%s], \"flat\": %s}", what, count, n, four(rss),
        four(device), flat ? "true" : "false"
      exit !flat
    }'
}

# sample_memory PID SAMPLES SECONDS: prints KiB of resident memory of a process and MiB of device memory until the
# process ends, one sample every SECONDS. Asking for device memory takes long, so it is asked only once per SAMPLES
# samples.
sample_memory() {
  local process=$1 samples=$2 seconds=$3 device i
  while kill -0 "$process" 2> /dev/null; do
    device=$(nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits -i 0)
    for ((i = 0; i < samples; ++i)); do
      awk -v device="$device" '/^VmRSS/ { print $2, device }' "/proc/$process/status" 2> /dev/null || break
      sleep "$seconds"
    done
  done
}

# soak_of NAME COUNT ARGUMENT...: runs COUNT encodes in one process, as warm-ups. c63enc keeps no results of warm-ups,
# but of measured runs it keeps those that can still become the median.
soak_of() {
  local name=$1 count=$2 source=$dir/shared/sequences/static_152x100.yuv encoder failed=0
  shift 2
  if [[ ! -f $source ]]; then
    echo '{"skipped": "the bundle carries no sequences"}' > "$work/$name.json"
    return 0
  fi
  "$dir/c63enc" --backend cuda -w 152 -h 100 --quiet --warmup "$count" "$@" -o "$work/soak.c63" "$source" &
  encoder=$!
  sleep 2  # the device is open then
  sample_memory "$encoder" 10 0.1 > "$work/$name.samples"
  wait "$encoder" || failed=1
  flat_memory "$count" "$failed" < "$work/$name.samples" > "$work/$name.json"
}

section_soak() { soak_of soak 10000; }

# With one lane, each encode records its CUDA graphs again.
section_soak_graphs() { soak_of soak_graphs 4000 --lanes 1 -f 10; }

section_soak_presets() {
  soak_of soak_fast 3000 --preset fast && soak_of soak_good 3000 --preset good || return 1
  printf '{"fast": %s, "good": %s}' "$(cat "$work/soak_fast.json")" "$(cat "$work/soak_good.json")" > "$work/soak_presets.json"
}
