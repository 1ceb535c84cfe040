// Command grpc-go is a server and a client of grpc-go for the tests of Weir. The program in
// the folder grpc-python has the same commands, and that in grpc-js all but the last:
//
//	serve ADDRESS [CERT KEY]   serves, with TLS if files are given
//	check ADDRESS [ROOTS]      makes all kinds of calls and prints those that fail
//	call ADDRESS [ROOTS]       calls the methods in the lines of stdin. It prints a line for
//	                           each message of the response, and one with the status
//	quiet ADDRESS SECONDS [ROOTS]
//	                           makes calls in which one side, or both, is silent so long, and
//	                           prints those that fail
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"
)

// maxMessage is the largest size of a message in bytes.
const maxMessage = 8 << 20

// patience is how long one call may take, on a machine that other tests use too.
const patience = time.Minute

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "grpc-go:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 || args[0] == "quiet" && len(args) < 3 {
		return errors.New("usage: grpc-go serve ADDRESS [CERT KEY], check ADDRESS [ROOTS], call ADDRESS [ROOTS] " +
			"or quiet ADDRESS SECONDS [ROOTS]")
	}
	switch args[0] {
	case "serve":
		return serve(args[1], args[2:])
	case "quiet":
		return checkQuiet(args[1], args[2], args[3:])
	}
	conn, err := connect(args[1], args[2:])
	if err != nil {
		return err
	}
	defer conn.Close()
	if args[0] == "check" {
		return checkAll(conn)
	}
	return callMethods(conn, os.Stdin, os.Stdout)
}

// connect returns a client. The certificate of the server is that of localhost.
func connect(address string, roots []string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	creds := insecure.NewCredentials()
	if len(roots) > 0 {
		var err error
		if creds, err = credentials.NewClientTLSFromFile(roots[0], "localhost"); err != nil {
			return nil, err
		}
	}
	options = append(options, grpc.WithTransportCredentials(creds), grpc.WithDisableRetry(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
	return grpc.NewClient(address, options...)
}

// callMethods calls the method in each line of in.
func callMethods(conn *grpc.ClientConn, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		err := callMethod(conn, lines.Text(), out)
		fmt.Fprintln(out, status.Code(err))
	}
	return lines.Err()
}

// callMethod prints "message" for each message of a response. The request asks for two
// messages half an hour apart, if the method is StreamingOutputCall.
func callMethod(conn *grpc.ClientConn, method string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(endless()); err != nil && err != io.EOF {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		err := stream.RecvMsg(new(testpb.StreamingOutputCallResponse))
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "message")
	}
}

// endless returns a request for a message, and for another one after half an hour.
func endless() *testpb.StreamingOutputCallRequest {
	return &testpb.StreamingOutputCallRequest{ResponseParameters: []*testpb.ResponseParameters{
		{Size: 1}, {Size: 1, IntervalUs: int32(30 * time.Minute / time.Microsecond)}}}
}
