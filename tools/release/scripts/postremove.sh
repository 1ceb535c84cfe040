#!/bin/sh
# After the files have been removed. The user stays, because files may still belong to it.
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
if [ "$1" = purge ]; then
	rm -rf /var/lib/weir /var/log/weir
fi
