#!/bin/sh
# Runs the front door of this folder, and a `weir backend` for each service whose
# environment variable is not set. Stops all of them on an interrupt, or when the
# front door ends.
set -eu
weir=${WEIR:-./weir}
if ! command -v "$weir" >/dev/null; then
	echo "run.sh: there is no $weir here; build it with: go build -o weir ./cmd/weir" >&2
	echo "run.sh: or say where it is: WEIR=/path/to/weir $0" >&2
	exit 2
fi
pids=

stop() {
	trap - EXIT INT TERM
	for pid in $pids; do
		kill "$pid" 2>/dev/null || :
	done
	wait
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start_backend NAME PORT URL starts a backend, unless URL, the variable of the service, is set.
start_backend() {
	if [ -z "$3" ]; then
		"$weir" backend --listen "127.0.0.1:$2" --header "X-Answered-By: $1" &
		pids="$pids $!"
	fi
}

start_backend babbage 8080 "${BABBAGE_URL:-}"
start_backend homepage 24400 "${HOMEPAGE_CONTROLLER_URL:-}"
start_backend datasets 20200 "${DATASET_CONTROLLER_URL:-}"
start_backend filters 20002 "${FILTER_DATASET_CONTROLLER_URL:-}"
start_backend search 25000 "${SEARCH_CONTROLLER_URL:-}"
start_backend release-calendar 27700 "${RELEASE_CALENDAR_CONTROLLER_URL:-}"
start_backend download 23400 "${DOWNLOADER_URL:-}"
start_backend feedback 25200 "${FEEDBACK_CONTROLLER_URL:-}"
start_backend census-atlas 28100 "${CENSUS_ATLAS_URL:-}"

"$weir" serve --config "$(dirname "$0")/weir.yaml" &
door=$!
pids="$pids $door"
wait "$door"
