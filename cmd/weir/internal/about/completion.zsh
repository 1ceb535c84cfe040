#compdef weir
# Completion of weir for zsh: source <(weir completion zsh) after compinit, or a file _weir in fpath.

_weir() {
    local -a lines candidates
    local line more
    lines=("${(@f)$(${(Q)words[1]} complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    more=$lines[1]
    if [[ $PREFIX == --*=* ]]; then
        compset -P '*='
    fi
    for line in "${(@)lines[2,-1]}"; do
        local word=${line%%$'\t'*} help=${line#*$'\t'}
        if [[ $IPREFIX == *= ]]; then
            word=${word#*=}
        fi
        candidates+=("${word//:/\\:}${help:+:$help}")
    done
    _describe -t weir weir candidates
    case $more in
    files) _files ;;
    folders) _files -/ ;;
    esac
}

if [[ $funcstack[1] == _weir ]]; then
    _weir "$@"
else
    compdef _weir weir
fi
