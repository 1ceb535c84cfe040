// Package send has an analyzer for programs that use Weir's package log. It
// checks that each event is sent, once, and not used afterwards.
//
// It reports
//
//   - an event without Send: logger.Info("x").Str("k", v) as a statement, or a
//     variable that some path through the function drops before its Send;
//   - an unused Logger: logger.With().Str("k", v) as a statement;
//   - an end without an effect: logger.With().Str("k", v).Send(), which writes
//     nothing, or logger.Info("x").Logger();
//   - a call on an event after its Send, such as a second Send or a field.
//
// It follows one event through one function, along every path, and treats two
// branches on the same condition as one decision. It reports nothing about an
// event that leaves the function: one that is returned, stored, captured by a
// function literal, or passed to a goroutine or to a function that returns no
// Event. A function that takes an Event and returns one, such as a helper that
// adds fields, is assumed to return the same event.
package send

import (
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"
)

// Analyzer reports events that are not sent, and those used after Send.
var Analyzer = &analysis.Analyzer{
	Name:     "logsend",
	Doc:      "check that events of github.com/weirhq/weir/log are sent, and not used afterwards",
	URL:      "https://pkg.go.dev/github.com/weirhq/weir/log/logvet/send",
	Requires: []*analysis.Analyzer{buildssa.Analyzer},
	Run:      run,
}

const logPath = "github.com/weirhq/weir/log"

// begins maps each method of Logger that begins an event to the method that
// ends the event.
var begins = map[string]string{
	"Debug": "Send", "Info": "Send", "Warn": "Send", "Error": "Send", "Fatal": "Send", "Log": "Send",
	"With": "Logger",
}

func run(pass *analysis.Pass) (any, error) {
	for _, f := range pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs {
		for _, block := range f.Blocks {
			for i, instruction := range block.Instrs {
				call, ok := instruction.(*ssa.Call)
				if !ok {
					continue
				}
				if end := begins[methodOf(&call.Call, "Logger")]; end != "" {
					follow(pass, call, end, block, i+1)
				}
			}
		}
	}
	return nil, nil
}

// methodOf returns the name of the called method if its receiver is the given
// type of package log, else "".
func methodOf(call *ssa.CallCommon, typeName string) string {
	callee := call.StaticCallee()
	if callee == nil || callee.Signature.Recv() == nil || !isLogType(callee.Signature.Recv().Type(), typeName) {
		return ""
	}
	return callee.Name()
}

// isLogType reports whether t is the named type of package log, or a pointer to
// it.
func isLogType(t types.Type, name string) bool {
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == logPath
}
