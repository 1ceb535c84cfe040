package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
)

// serve serves until the process is ended.
func serve(address string, files []string) error {
	options := []grpc.ServerOption{grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage)}
	if len(files) == 2 {
		creds, err := credentials.NewServerTLSFromFile(files[0], files[1])
		if err != nil {
			return err
		}
		options = append(options, grpc.Creds(creds))
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s := grpc.NewServer(options...)
	testpb.RegisterTestServiceServer(s, new(service))
	reflection.Register(s)
	return s.Serve(l)
}

// A service serves the calls of checks.
type service struct {
	testpb.UnimplementedTestServiceServer
	cancelled atomic.Int64 // streams
}

// EmptyCall returns the number of cancelled streams as metadata.
func (s *service) EmptyCall(ctx context.Context, _ *testpb.Empty) (*testpb.Empty, error) {
	err := grpc.SetHeader(ctx, metadata.Pairs("cancelled", fmt.Sprint(s.cancelled.Load())))
	return &testpb.Empty{}, err
}

// UnaryCall returns a payload of the size of the request's field, or the requested status with
// the request's payload as a detail. It returns the metadata "echo" in the header and
// "echo-bin" in the trailers. With the metadata "wait" it waits for the deadline, and with "pause" for so many seconds.
func (s *service) UnaryCall(ctx context.Context, r *testpb.SimpleRequest) (*testpb.SimpleResponse, error) {
	got, _ := metadata.FromIncomingContext(ctx)
	if len(got["wait"]) > 0 {
		if _, ok := ctx.Deadline(); !ok {
			return nil, status.Error(codes.Internal, "the call has no deadline")
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	time.Sleep(requestedPause(ctx))
	if len(got["echo"]) > 0 {
		if err := grpc.SetHeader(ctx, metadata.MD{"echo": got["echo"]}); err != nil {
			return nil, err
		}
		if err := grpc.SetTrailer(ctx, metadata.MD{"echo-bin": got["echo-bin"]}); err != nil {
			return nil, err
		}
	}
	if want := r.GetResponseStatus(); want != nil {
		failure, err := status.New(codes.Code(want.Code), want.Message).WithDetails(r.GetPayload())
		if err != nil {
			return nil, err
		}
		return nil, failure.Err()
	}
	return &testpb.SimpleResponse{Payload: payload(int(r.ResponseSize))}, nil
}

// StreamingInputCall returns the size of all messages.
func (s *service) StreamingInputCall(stream testpb.TestService_StreamingInputCallServer) error {
	size := 0
	for {
		r, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(&testpb.StreamingInputCallResponse{AggregatedPayloadSize: int32(size)})
		}
		if err != nil {
			return err
		}
		size += len(r.GetPayload().GetBody())
	}
}

// StreamingOutputCall sends the requested messages, each after its interval.
func (s *service) StreamingOutputCall(r *testpb.StreamingOutputCallRequest,
	stream testpb.TestService_StreamingOutputCallServer) error {
	for _, p := range r.ResponseParameters {
		select {
		case <-stream.Context().Done():
			s.cancelled.Add(1)
			return stream.Context().Err()
		case <-time.After(time.Duration(p.IntervalUs) * time.Microsecond):
		}
		if err := stream.Send(&testpb.StreamingOutputCallResponse{Payload: payload(int(p.Size))}); err != nil {
			return err
		}
	}
	return nil
}

// FullDuplexCall sends the messages that each message requests. With the metadata "pause" it pauses before each but the
// first. At the end of the request it returns the status of the last message.
func (s *service) FullDuplexCall(stream testpb.TestService_FullDuplexCallServer) error {
	var end *testpb.EchoStatus
	for first := true; ; first = false {
		r, err := stream.Recv()
		if err == io.EOF {
			return status.Error(codes.Code(end.GetCode()), end.GetMessage())
		}
		if err != nil {
			return err
		}
		end = r.ResponseStatus
		if !first {
			time.Sleep(requestedPause(stream.Context()))
		}
		for _, p := range r.ResponseParameters {
			if err := stream.Send(&testpb.StreamingOutputCallResponse{Payload: payload(int(p.Size))}); err != nil {
				return err
			}
		}
	}
}

func payload(size int) *testpb.Payload { return &testpb.Payload{Body: bytes.Repeat([]byte("x"), size)} }
