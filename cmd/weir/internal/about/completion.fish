# Completion of weir for fish: weir completion fish > ~/.config/fish/completions/weir.fish

function __weir_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] complete -- $words[2..-1] "$current" 2>/dev/null)
    set -l flag (string match --regex -- '^--[^=]*=' $current)
    set -l value (string replace --regex -- '^--[^=]*=' '' $current)
    printf '%s\n' $lines[2..-1]
    switch "$lines[1]"
        case files
            string replace --regex -- '^' "$flag" (__fish_complete_path $value)
        case folders
            string replace --regex -- '^' "$flag" (__fish_complete_directories $value)
    end
end

complete --command weir --no-files --arguments '(__weir_complete)'
