#!/bin/sh
# Before the files are removed: Debian passes remove, or upgrade; Red Hat the number of versions that stay.
set -e
if [ "$1" = remove ] || [ "$1" = 0 ]; then
	[ ! -d /run/systemd/system ] || systemctl disable --now weir.service weir.socket
fi
