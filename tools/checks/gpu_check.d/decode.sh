# shellcheck shell=bash disable=SC2154  # dir and work are gpu_check's
# Sections of tools/gpu_check for decoding on the GPU. They compare its samples with the CPU's, and measure its speed, and its
# memory over many frames.

# Decodes each stream of the course encoder in the bundle on the GPU and on the CPU, and compares the MD5 of the pictures.
section_decode_parity() {
  local stream name expected found status=0 list=()
  for stream in "$dir"/shared/golden/*.c63; do
    [[ -f $stream ]] || continue
    name=$(basename "$stream" .c63)
    expected=$("$dir/c63dec" --quiet --backend cpu --md5 "$stream") || status=1
    found=$("$dir/c63dec" --quiet --backend cuda --md5 "$stream") || status=1
    [[ $found == "$expected" ]] || status=1
    list+=("\"$name\": $([[ $found == "$expected" ]] && echo true || echo false)")
  done
  (IFS=,; printf '{%s}' "${list[*]-}") > "$work/decode_parity.json"
  return $status
}

# Measures decoding of streams in memory, on the GPU (to page-locked memory) and on the CPU. The streams are long, so that the
# first frames count little.
section_bench_decode() {
  local i
  "$dir/c63gen" --quiet --pattern natural -w 1920 -h 1080 -f 300 --seed 1 -o "$work/hd.yuv" &&
    "$dir/c63enc" --quiet --backend cuda --keyint 100 -w 1920 -h 1080 -o "$work/hd.c63" "$work/hd.yuv" || return 1
  rm "$work/hd.yuv"
  for i in 1 2 3 4 5 6 7 8; do cat "$work/hd.c63"; done > "$work/hd2400.c63"
  local streams=("$work/hd2400.c63")
  if [[ -f $dir/shared/golden/foreman_352x288.c63 ]]; then
    for ((i = 0; i < 20; ++i)); do cat "$dir/shared/golden/foreman_352x288.c63"; done > "$work/foreman6000.c63"
    streams+=("$work/foreman6000.c63")
  fi
  "$dir/c63bench" decode --backend cuda,cpu --output views --thread-counts 1,16 --repeats 3 --json "$work/bench_decode.json" "${streams[@]}"
}

# Decodes 210,000 frames from a pipe. Memory of host and device must not grow. sample_memory and flat_memory are in soak.sh.
section_soak_decode() {
  local stream=$dir/shared/golden/foreman_352x288.c63 decoder failed=0 i
  if [[ ! -f $stream ]]; then
    echo '{"skipped": "the bundle carries no streams"}' > "$work/soak_decode.json"
    return 0
  fi
  "$dir/c63dec" --quiet --backend cuda - /dev/null < <(for ((i = 0; i < 700; ++i)); do cat "$stream"; done) &
  decoder=$!
  sleep 1  # the device is open then
  sample_memory "$decoder" 4 0.05 > "$work/soak_decode.samples"
  wait "$decoder" || failed=1
  flat_memory 210000 "$failed" frames < "$work/soak_decode.samples" > "$work/soak_decode.json"
}
