package proxy

import (
	"fmt"
	"strings"
)

// bodySize is the size of the backend's response.
const bodySize = 1024

// nginxDoor configures a worker for each CPU, persistent connections to the upstream, one JSON line per request without
// buffering (nginx's default), and the same headers for the upstream as the others.
func nginxDoor(t Tools, s site) (command, error) {
	log := "off"
	switch s.log {
	case noLog:
	case stdout:
		log = "/dev/stdout events"
	default:
		log = s.log + " events"
	}
	return nginx(t, s, "auto", fmt.Sprintf(`
	log_format events escape=json '{"created_at":"$time_iso8601","namespace":"front-door","event":"http request completed",'
		'"trace_id":"$request_id","severity":3,"http":{"status_code":$status,"method":"$request_method","scheme":"$scheme",'
		'"host":"$host","port":"$server_port","path":"$uri","query":"$args","duration":"$request_time",'
		'"response_content_length":$body_bytes_sent,"client":"$remote_addr","protocol":"$server_protocol",'
		'"user_agent":"$http_user_agent"},"data":{"destination":"$upstream_addr","proxy_name":"backend"}}';
	upstream backend {
		server %s;
		keepalive %d;
		keepalive_requests 1000000000;
	}
	server {
		listen %s;
		access_log %s;
		location / {
			proxy_pass http://backend;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_set_header Host $http_host;
			proxy_set_header X-Forwarded-For $remote_addr;
			proxy_set_header X-Forwarded-Host $http_host;
			proxy_set_header X-Forwarded-Proto $scheme;
			proxy_set_header X-Request-Id $request_id;
			add_header X-Request-Id $request_id;
		}
	}
`, local(s.upstream), s.idle(), local(s.port), log))
}

// backend is the upstream of every door: nginx, responding from memory.
func backend(t Tools, s site) (command, error) {
	return nginx(t, s, "1", fmt.Sprintf(`
	access_log off;
	server {
		listen %s;
		keepalive_timeout 1h;
		default_type text/plain;
		location / { return 200 "%s"; }
	}
`, local(s.port), strings.Repeat("weir\n", bodySize)[:bodySize]))
}

// nginx runs nginx in the foreground with all its files in the site's folder.
func nginx(t Tools, s site, workers, server string) (command, error) {
	file, err := s.write("nginx.conf", fmt.Sprintf(`daemon off;
worker_processes %s;
pid %s;
error_log stderr warn;
events { worker_connections 4096; }
http {
	client_body_temp_path %[3]s;
	proxy_temp_path %[3]s;
	fastcgi_temp_path %[3]s;
	uwsgi_temp_path %[3]s;
	scgi_temp_path %[3]s;
	keepalive_requests 1000000000;
%[4]s
}
`, workers, s.file("nginx.pid"), s.file("temp"), server))
	return command{args: []string{t.Nginx, "-p", s.dir, "-c", file, "-e", "stderr"}}, err
}
