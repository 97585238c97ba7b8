# bash completion for downsample(1).
_downsample() {
  local current=${COMP_WORDS[COMP_CWORD]} previous='' word command='' values='' options index
  ((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}
  # --name=value comes as three words, as = parts words.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = ]] && ((COMP_CWORD > 1)); then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=${COMP_WORDS[index]}
    [[ $index -eq 1 && ($word == info || $word == plan) ]] && command=$word
  done
  COMPREPLY=()
  case $previous in
    --format) values='jpeg png heic avif' ;;
    --chroma) values='420 422 444' ;;
    --effort) values='1 2 3 4 5 6 7 8 9' ;;
    --depth) values='8 16' ;;
    --color) values='keep srgb p3' ;;
    --intent) values='perceptual relative saturation absolute' ;;
    --kernel) values='box triangle mitchell catrom lanczos2 lanczos3' ;;
    --metadata) values='none rights all' ;;
    --over-budget) values='refuse shrink' ;;
    --max) values='auto 512 1024 2048 4096' ;;
    --memory) values='auto 64MB 120MB 256MB' ;;
    --quality | --background | --threads | --deadline) return ;;
  esac
  if [[ -n $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
    return
  fi
  if [[ $current == -* ]]; then
    options='--json --quiet --verbose --version --help -q -v -h'
    if [[ $command != info ]]; then
      options+=' --max --format --quality --chroma --effort --progressive --depth --color --intent --linear --kernel
        --background --metadata --strip-gps --salvage --memory --over-budget --threads'
      [[ $command == plan ]] || options+=' --deadline --no-clobber'
    fi
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  compopt -o filenames 2>/dev/null || :
  mapfile -t COMPREPLY < <(compgen -f -- "$current")
  if ((COMP_CWORD == 1)); then
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W 'info plan' -- "$current")
  fi
}
complete -F _downsample downsample
