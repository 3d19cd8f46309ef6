# bash completion for the programs of c63. Options come from a program's own --help-all.

_c63() {
  local current=${COMP_WORDS[COMP_CWORD]} command=()
  local commands=$("$1" --help-all 2>/dev/null | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p')
  [[ $COMP_CWORD -gt 1 && " "$commands" " == *[[:space:]]${COMP_WORDS[1]}[[:space:]]* ]] && command=("${COMP_WORDS[1]}")
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$("$1" "${command[@]}" --help-all 2>/dev/null | grep -oE '^ +-.*' | grep -oE -- '--?[a-z][a-z0-9-]*')" -- "$current"))
  elif [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}
complete -o default -F _c63 c63bench c63cmp c63course c63dec c63enc c63filter c63gen c63grade c63info c63join c63mpi c63mv c63pred
