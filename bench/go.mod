module github.com/weirhq/weir/bench

go 1.26.0

require (
	github.com/ONSdigital/dp-net v1.0.5-0.20200805150805-cac050646ab5
	github.com/ONSdigital/dp-net/v3 v3.2.0
	github.com/ONSdigital/log.go v1.1.0
	github.com/ONSdigital/log.go/v2 v2.5.2
	github.com/fatih/color v1.18.0
	github.com/francoispqt/onelog v0.0.0-20190306043706-8c2bb31b10a4
	github.com/go-chi/chi/v5 v5.5.0
	github.com/julienschmidt/httprouter v1.3.0
	github.com/phuslu/log v1.0.121
	github.com/rs/zerolog v1.35.1
	github.com/uptrace/bunrouter v1.0.23
	github.com/weirhq/weir v0.0.0
	go.opentelemetry.io/otel v1.35.0
	go.opentelemetry.io/otel/trace v1.35.0
	go.uber.org/zap v1.28.0
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da
)

require (
	github.com/ONSdigital/dp-api-clients-go/v2 v2.266.0 // indirect
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/francoispqt/gojay v0.0.0-20181220093123-f2cc13a668ca // indirect
	github.com/go-logr/logr v1.4.2 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/hokaccha/go-prettyjson v0.0.0-20211117102719-0474bc63780f // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	go.opentelemetry.io/auto/sdk v1.1.0 // indirect
	go.opentelemetry.io/otel/metric v1.35.0 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/weirhq/weir => ../
