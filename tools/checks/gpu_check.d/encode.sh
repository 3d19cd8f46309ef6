# shellcheck shell=bash disable=SC2154  # dir and work are gpu_check's
# Sections of tools/gpu_check for encodes on the GPU. They compare the bytes with the course encoder's, and measure the speed of
# single frames and of whole encodes.

# Encodes each sequence in the bundle that has a stream of the course encoder.
section_golden() {
  local golden name size source status=0 list=() start seconds equal run runs
  for golden in "$dir"/shared/golden/*.c63; do
    name=$(basename "$golden" .c63)
    source=$dir/shared/sequences/$name.yuv
    [[ -f $source ]] || continue
    size=${name##*_}
    equal=true
    seconds=()
    runs=3
    [[ $name == foreman* ]] && runs=10  # its slowest run has a limit, so it runs more often
    for ((run = 0; run < runs; ++run)); do
      start=$(date +%s%N)
      "$dir/c63enc" --backend cuda -w "${size%x*}" -h "${size#*x}" --quiet -o "$work/$name.c63" "$source" || status=1
      seconds+=("$(awk -v ns=$(($(date +%s%N) - start)) 'BEGIN { printf "%.3f", ns / 1e9 }')")
      cmp -s "$work/$name.c63" "$golden" || { equal=false; status=1; }
    done
    mapfile -t seconds < <(printf '%s\n' "${seconds[@]}" | sort -n)
    echo "$name: equal $equal, whole process ${seconds[0]} to ${seconds[-1]} s"
    list+=("\"$name\": {\"equal\": $equal, \"whole_process_s\": ${seconds[0]}, \"runs_s\": [$(IFS=,; echo "${seconds[*]}")]}")
  done
  (IFS=,; printf '{%s}' "${list[*]-}") > "$work/golden.json"
  return $status
}

section_bench_frame() {
  "$dir/c63bench" frame --sizes 352x288,1280x720,1920x1080,3840x2160 --json "$work/frame_1.json" &&
    "$dir/c63bench" frame --sizes 352x288,1280x720,1920x1080 --lanes 8 --json "$work/frame_8.json" || return 1
  printf '{"lanes_1": %s, "lanes_8": %s}' "$(cat "$work/frame_1.json")" "$(cat "$work/frame_8.json")" \
    > "$work/bench_frame.json"
}

section_bench_encode() {
  "$dir/c63bench" encode --sizes 352x288,1280x720,1920x1080 --from memory,file,page-locked,device --lanes 0,1,16 --keyint 50 --gops 128 \
    --repeats 3 --json "$work/bench_encode.json"
}

# on_gpus NAME GOPS LANES ARGUMENT...: runs c63bench encode on 1, 2, 4, … GPUs and writes the list of results to
# NAME.json. All runs encode GOPS times the machine's number of GPUs, so that the lanes are evenly used with any number
# of GPUs. LANES is per GPU in use (0: c63bench chooses).
on_gpus() {
  local name=$1 gops=$2 lanes=$3 gpus count list=()
  shift 3
  gpus=$(nvidia-smi -L | wc -l)
  if ((gpus < 2)); then
    echo '{"skipped": "there is one GPU"}' > "$work/$name.json"
    return 0
  fi
  for ((count = 1; count <= gpus; count *= 2)); do
    "$dir/c63bench" encode --devices "$(seq -s, 0 $((count - 1)))" --gops $((gops * gpus)) \
      --lanes $((lanes * count)) --keyint 50 --repeats 3 "$@" --json "$work/gpus.json" || return 1
    list+=("$(cat "$work/gpus.json")")
    (IFS=,; printf '[%s]' "${list[*]}") > "$work/$name.json"
  done
}

section_bench_gpus() { on_gpus bench_gpus 72 0 --sizes 1920x1080 --from memory,file,page-locked; }

section_bench_gpus_small() { on_gpus bench_gpus_small 256 0 --sizes 352x288 --from memory,file,page-locked; }

section_bench_gpus_presets() {
  on_gpus bench_gpus_presets 64 32 --sizes 1920x1080,352x288 --preset fast,good --from memory,page-locked
}

# Compares two ways to launch kernels: one by one (stream), and as a recorded CUDA graph if the GPU has one lane (auto).
section_bench_launch() {
  "$dir/c63bench" encode --sizes 352x288,1920x1080 --lanes 1,16 --launch stream,auto --json "$work/bench_launch.json"
}
