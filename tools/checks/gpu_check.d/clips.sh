# shellcheck shell=bash disable=SC2154  # dir and work are gpu_check's
# Section of tools/gpu_check for the clips that --clips puts in the bundle, such as those of tools/checks/clips.py.

# Encodes each clip with each preset on the CPU and on the GPU, and compares the streams. Eight pairs run at the same time.
section_clip_parity() {
  local clip preset qp unequal=() pairs=0
  if ! compgen -G "$dir/clips/*.y4m" > /dev/null; then
    echo '{"skipped": "the bundle carries no clips"}' > "$work/clip_parity.json"
    return 0
  fi
  mkdir -p "$work/clips"
  for clip in "$dir"/clips/*.y4m; do
    for preset in reference fast good best; do
      for qp in 10 25; do printf '%s %s %s\n' "$clip" "$preset" "$qp"; done
    done
  done > "$work/clips/list"
  pairs=$(wc -l < "$work/clips/list")
  # shellcheck disable=SC2016  # the inner shell expands these
  xargs -P 8 -L 1 bash -c 'part=$1/clips/$(basename "$2" .y4m)-$3-$4
    for backend in cpu cuda; do
      "$0/c63enc" --quiet --backend "$backend" --preset "$3" -q "$4" -o "$part-$backend.c63" "$2" || exit 0
    done
    cmp -s "$part-cpu.c63" "$part-cuda.c63" && touch "$part.equal"' "$dir" "$work" < "$work/clips/list"
  while read -r clip preset qp; do
    clip=$(basename "$clip" .y4m)
    [[ -e $work/clips/$clip-$preset-$qp.equal ]] || unequal+=("\"$clip $preset -q $qp\"")
  done < "$work/clips/list"
  (IFS=,; printf '{"clips": %d, "streams": %d, "unequal": [%s]}' "$((pairs / 8))" "$pairs" "${unequal[*]-}") > "$work/clip_parity.json"
  cat "$work/clip_parity.json"
  ((${#unequal[@]} == 0))
}
