package log_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/errs"
	"github.com/weirhq/weir/log/record"
)

// The message is that of the whole chain. Package errs added the fields and the
// stack where the error occurred.
func ExampleEvent_Err() {
	var line bytes.Buffer
	logger := log.New(&line, log.Options{Namespace: "users"})
	logger.Error("could not save").Err(saveUser(42)).Send()

	event, err := record.Parse(line.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	saving := event.Errors[0]
	fmt.Println(saving.Message)
	fmt.Println(saving.Data[0].Key, saving.Data[0].Value.Any())
	fmt.Println("from", path.Base(saving.Stack[0].Function))
	// Output:
	// saving user: permission denied
	// user_id 42
	// from log_test.saveUser
}

func saveUser(id int64) error {
	return errs.Wrap(fs.ErrPermission, "saving user").Int64("user_id", id)
}

func ExampleEvent_Err_joined() {
	logger := log.New(os.Stdout, log.Options{Namespace: "front-door"})
	logger.Warn("could not stop").Err(errors.Join(errors.New("database: busy"), errors.New("queue: gone"))).
		At(noon).Send()
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"could not stop","severity":2,"errors":[{"message":"database: busy"},{"message":"queue: gone"}]}
}

// Stack adds the stack of the call of Err to an error without one.
func ExampleEvent_Stack() {
	var line bytes.Buffer
	logger := log.New(&line, log.Options{}).With().Stack().Logger()
	logger.Error("could not connect").Err(errors.New("refused")).Send()

	event, err := record.Parse(line.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("logged in", path.Base(event.Errors[0].Stack[0].Function))
	// Output:
	// logged in log_test.ExampleEvent_Stack
}
