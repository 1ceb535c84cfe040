// Logvet reports events of package log that a program forgets to send, and
// events that it uses after it has sent them:
//
//	go run github.com/weirhq/weir/log/logvet@latest ./...
//
// It takes the flags of go vet, and runs within it as well:
//
//	go vet -vettool=$(which logvet) ./...
//
// It exits with 3 if it reports anything. Package send has the rules; its
// Analyzer is for drivers of one's own.
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/weirhq/weir/log/logvet/send"
)

func main() { singlechecker.Main(send.Analyzer) }
