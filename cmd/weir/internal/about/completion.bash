# Completion of weir for bash: source <(weir completion bash)

_weir() {
    # COMP_WORDS has --flag=value and host:port in several words: join those without a space between them.
    local words=() word rest=${COMP_LINE:0:COMP_POINT} trimmed i
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        trimmed=${rest#"${rest%%[![:space:]]*}"}
        if ((i == COMP_CWORD)); then
            word=${trimmed}
        fi
        if ((${#words[@]} > 0)) && [[ -n $rest && $trimmed == "$rest" ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        rest=${trimmed#"$word"}
    done

    # The shell replaces only the last part of such a word.
    local current=${words[${#words[@]}-1]} part=${COMP_WORDS[COMP_CWORD]}
    local kept=${current%"$part"}
    if [[ $part == [=:] ]]; then
        kept=$current
    fi

    local line more=
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z $more ]]; then
            more=$line
        else
            line=${line%%$'\t'*}
            COMPREPLY+=("${line#"$kept"}")
        fi
    done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
    case $more in
    files) compopt -o bashdefault -o default ;;
    folders) compopt -o dirnames ;;
    esac
}

complete -F _weir weir
