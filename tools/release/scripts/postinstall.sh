#!/bin/sh
# After the files have been installed: Debian passes configure, Red Hat the number of installed versions.
set -e
systemd-sysusers weir.conf
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
# The new binary takes over without a refused connection. If it does not start, the previous process continues.
if systemctl --quiet is-active weir.service; then
	weir upgrade --config /etc/weir/weir.yaml || echo "weir: the previous process continues" >&2
fi
