// Package errs makes errors with a stack and fields, for package log to write.
//
// [Wrap] adds the failed operation to an error, and the methods of [Error] add
// its values:
//
//	if err := db.Save(user); err != nil {
//		return errs.Wrap(err, "saving user").Int64("user_id", user.ID)
//	}
//
// The error is logged like any other. Its event has the message, the stack of
// the origin and the fields of the whole chain, outermost first:
//
//	logger.Error("could not save").Err(err).Send()
//
// Guarantees:
//
//   - The stack is captured once, where [New] or Wrap made the first error of
//     the chain. If the chain contains a [log.Stacker], of this package or not,
//     no other stack is captured.
//   - A stack is stored as program counters. Functions, files and lines are
//     resolved when it is written, so that an error that is not logged costs
//     little.
//   - errors.Is, errors.As, errors.Unwrap and errors.Join work as usual.
//
// There is no Errorf: variable data belongs in fields, where it can be
// searched. To add a stack to an error made by fmt.Errorf, use Wrap with an
// empty message.
//
// An error for comparisons, such as io.EOF, is a value of the package and has
// no single origin: make it with errors.New, and wrap it where it occurs. If it
// were made with New, its stack would show the start of the program.
package errs
