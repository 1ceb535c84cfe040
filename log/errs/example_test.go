package errs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/errs"
)

func saveUser(id int64) error {
	if err := writeRow(); err != nil {
		return errs.Wrap(err, "saving user").Int64("user_id", id)
	}
	return nil
}

func writeRow() error {
	return errs.Wrap(fs.ErrPermission, "writing row").Str("table", "users")
}

func ExampleWrap() {
	err := saveUser(42)
	fmt.Println(err)
	fmt.Println(errors.Is(err, fs.ErrPermission))
	// Output:
	// saving user: writing row: permission denied
	// true
}

func ExampleNew() {
	err := errs.New("no such user").Int64("user_id", 42)
	details := fmt.Sprintf("%+v", err)
	for line := range strings.Lines(details) {
		fmt.Print(line) // the other lines are the stack
		break
	}
	// Output:
	// no such user user_id=42
}

func ExampleError() {
	var line bytes.Buffer
	logger := log.New(&line, log.Options{Namespace: "users"})
	logger.Error("could not save").Err(saveUser(42)).Send()

	var event struct {
		Errors []struct {
			Message    string
			Data       json.RawMessage
			StackTrace []struct{ Function string } `json:"stack_trace"`
		}
	}
	if err := json.Unmarshal(line.Bytes(), &event); err != nil {
		fmt.Println(err)
	}
	first := event.Errors[0]
	fmt.Println(first.Message)
	fmt.Println(string(first.Data))
	fmt.Println(path.Base(first.StackTrace[0].Function))
	fmt.Println(path.Base(first.StackTrace[1].Function))
	// Output:
	// saving user: writing row: permission denied
	// {"user_id":42,"table":"users"}
	// errs_test.writeRow
	// errs_test.saveUser
}
