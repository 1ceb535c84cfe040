package sibling

import "fmt"

// An OtherUser is the error for a connection with a process of another user.
type OtherUser struct{ PID, UID int }

func (o *OtherUser) Error() string {
	return fmt.Sprintf("the process %d belongs to another user, with the id %d", o.PID, o.UID)
}
