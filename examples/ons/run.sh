#!/bin/sh
# Runs the front door of this folder with a `weir backend` standing in for each
# service that no environment variable points elsewhere. Stops them all when it
# is interrupted or the front door ends.
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

# stand_in NAME PORT URL: nothing when URL, the service's variable, is set.
stand_in() {
	if [ -z "$3" ]; then
		"$weir" backend --listen "127.0.0.1:$2" --header "X-Answered-By: $1" &
		pids="$pids $!"
	fi
}

stand_in babbage 8080 "${BABBAGE_URL:-}"
stand_in homepage 24400 "${HOMEPAGE_CONTROLLER_URL:-}"
stand_in datasets 20200 "${DATASET_CONTROLLER_URL:-}"
stand_in filters 20002 "${FILTER_DATASET_CONTROLLER_URL:-}"
stand_in search 25000 "${SEARCH_CONTROLLER_URL:-}"
stand_in release-calendar 27700 "${RELEASE_CALENDAR_CONTROLLER_URL:-}"
stand_in download 23400 "${DOWNLOADER_URL:-}"
stand_in feedback 25200 "${FEEDBACK_CONTROLLER_URL:-}"
stand_in cookies 24100 "${COOKIES_CONTROLLER_URL:-}"
stand_in census-atlas 28100 "${CENSUS_ATLAS_URL:-}"

"$weir" serve --config "$(dirname "$0")/weir.yaml" &
door=$!
pids="$pids $door"
wait "$door"
