package proxy

import (
	"fmt"
	"os"
	"strings"
)

// nginxDoor configures a worker for each CPU, persistent connections to the upstream, one JSON line per request without
// buffering (nginx's default), and the same headers for the upstream as the others. No body is written to a file.
func nginxDoor(t Tools, s site) (command, error) {
	log := "off"
	switch s.log {
	case noLog:
	case stdout:
		log = "/dev/stdout events"
	default:
		log = s.log + " events"
	}
	buffers := ""
	if s.work.kind() == bodiesKind {
		buffers = bodyBuffers
	}
	listen := local(s.port)
	if s.work.Streams > 0 {
		listen += " http2"
	}
	if s.work.hasTLS() {
		listen += fmt.Sprintf(` ssl;
		ssl_protocols TLSv1.2 TLSv1.3;
		ssl_certificate %s;
		ssl_certificate_key %s`, s.cert, s.key)
	}
	handler := `proxy_pass http://backend;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_set_header Host $http_host;
			proxy_set_header X-Forwarded-For $remote_addr;
			proxy_set_header X-Forwarded-Host $http_host;
			proxy_set_header X-Forwarded-Proto $scheme;
			proxy_set_header X-Request-Id $request_id;`
	if s.work.Files {
		handler = fmt.Sprintf("root %s; sendfile on; tcp_nopush on;", s.files)
	}
	return nginx(t, s, "auto", buffers+fmt.Sprintf(`
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
	%s}
`, local(s.upstream), s.idle(), listen, log, nginxLocations(s.work, handler)))
}

// nginxLocations are the blocks of the routes.
func nginxLocations(w Work, handler string) string {
	var b strings.Builder
	for _, path := range w.routes() {
		fmt.Fprintf(&b, "\t\tlocation %s/ {\n\t\t\t%s\n\t\t\tadd_header X-Request-Id $request_id;\n\t\t}\n", path, handler)
	}
	return b.String()
}

// bodyBuffers are nginx's settings for the larger bodies: an upload of 64 KiB and a head with 16 KiB fit into one
// buffer each. Of eleven settings for responses, tried in short runs, these took the least CPU time for 16 KiB, within
// the noise. For 1 MiB, proxy_buffering off took 5% less, but a third more for 16 KiB. Buffers for all of 1 MiB took
// twice the time.
const bodyBuffers = `
	client_body_buffer_size 128k;
	proxy_buffer_size 20k;
	proxy_buffers 8 32k;
	proxy_max_temp_file_size 0;
`

// checkedPath makes the backend check the bytes of an upload.
const checkedPath = "/checked"

// responsesDir is the folder of the backend's larger responses. Their names are their sizes.
const responsesDir = "responses"

// backend is the upstream of every door: nginx, responding from memory or from files in the page cache. It responds to
// an upload when it has received all of it, with 400 if its size is not that in the path. It checks the bytes too if
// the path begins with checkedPath; for every upload this would cost more than the rest.
func backend(t Tools, s site) (command, error) {
	return nginx(t, s, "1", fmt.Sprintf(`
	access_log off;
	keepalive_timeout 1h;
	default_type text/plain;
	open_file_cache max=16;
	sendfile on;
	tcp_nopush on;
	map $uri $checked {
		~^/checked/ $request_body;
	}
	map $uri:$content_length:$checked $upload {
		"~^/uploads/(\d+):\1:$" correct;
		"~^/checked/uploads/(\d+):\1:(?:weir\n)++w?e?i?r?$" correct;
		default wrong;
	}
	upstream uploads {
		server unix:%[1]s;
		keepalive 64;
	}
	server {
		listen unix:%[1]s;
		if ($http_x_upload != correct) { return 400; }
		return 200 "%[2]s";
	}
	server {
		listen %[3]s;
		location / { return 200 "%[2]s"; }
		location /%[4]s/ { root %[5]s; }
		location = %[6]s { stub_status; }
		location ~ ^(/checked)?/uploads/ {
			client_body_buffer_size 1m;
			proxy_pass http://uploads;
			proxy_set_header X-Upload $upload; # expanded when the whole body has been read
			proxy_pass_request_body off;
			proxy_set_header Content-Length "";
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}
	}
`, s.file("uploads.socket"), body(bodySize), local(s.port), responsesDir, s.dir, requestsPath))
}

// nginx runs nginx in the foreground with all its files in the site's folder.
func nginx(t Tools, s site, workers, server string) (command, error) {
	user := ""
	if os.Geteuid() == 0 {
		user = "user root root;" // instead of nobody, who may not read the folder
	}
	file, err := s.write("nginx.conf", fmt.Sprintf(`daemon off;
%[6]s
worker_processes %[1]s;
pid %[2]s;
error_log stderr warn;
worker_rlimit_nofile %[5]d;
events { worker_connections %[5]d; }
http {
	client_body_temp_path %[3]s;
	proxy_temp_path %[3]s;
	fastcgi_temp_path %[3]s;
	uwsgi_temp_path %[3]s;
	scgi_temp_path %[3]s;
	keepalive_requests 1000000000;
%[4]s
}
`, workers, s.file("nginx.pid"), s.file("temp"), server, max(4096, 2*s.work.Connections), user))
	return command{args: []string{t.Nginx, "-p", s.dir, "-c", file, "-e", "stderr"}}, err
}
