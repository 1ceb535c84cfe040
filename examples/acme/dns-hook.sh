#!/bin/sh
# Sets and removes the records of dns-01: dns-hook.sh present|cleanup NAME VALUE. This one talks to the HTTP interface
# of a test server (pebble-challtestsrv). Replace the two commands by those of your DNS provider. "present" must end
# only when the servers of the DNS have the record.
set -eu
case "$1" in
present) curl -sSf -d "{\"host\":\"$2.\",\"value\":\"$3\"}" "$DNS_API/set-txt" ;;
cleanup) curl -sSf -d "{\"host\":\"$2.\"}" "$DNS_API/clear-txt" ;;
esac
