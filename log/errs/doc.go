// Package errs makes errors that know where they came from and what they were
// about, for package log to write.
//
// [Wrap] says what was being done, the adders say with which values:
//
//	if err := db.Save(user); err != nil {
//		return errs.Wrap(err, "saving user").Int64("user_id", user.ID)
//	}
//
// Where the error is logged, as always, its event has the message, the stack of
// the origin and the fields of the whole chain, outermost first:
//
//	logger.Error("could not save").Err(err).Send()
//
// What is promised:
//
//   - The stack is captured once, where the first of the chain's errors was
//     made by [New] or Wrap. An error that is a [log.Stacker] already, of this
//     package or not, is not asked where it is a second time.
//   - A stack is kept as program counters. Functions, files and lines are looked
//     up when it is written, so that an error that nobody logs costs little.
//   - errors.Is, errors.As, errors.Unwrap and errors.Join see nothing unusual.
//
// There is no Errorf: what varies belongs in fields, where it can be searched
// for. A text made by fmt.Errorf gets its stack by Wrap with an empty message.
//
// An error that is compared with (io.EOF is one) is a value of the package
// rather than of one failure: make it with errors.New, and wrap it where it
// happens. The stack of one made by New would show the start of the program.
package errs
