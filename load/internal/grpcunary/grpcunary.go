// Package grpcunary makes the request of a unary call of gRPC, whose message is given as JSON.
//
// The protocol is that of https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md.
package grpcunary

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// ContentType is the type of requests and responses.
const ContentType = "application/grpc"

// A Method names a unary method.
type Method struct{ service, name string }

// ParseMethod reads a name such as shop.Orders/Get. The separator may be a dot, too, and a slash may come first.
func ParseMethod(text string) (Method, error) {
	full := strings.TrimPrefix(text, "/")
	i := strings.LastIndexAny(full, "/.")
	if i <= 0 || i == len(full)-1 || strings.Contains(full[:i], "/") {
		return Method{}, fmt.Errorf("%q is not the name of a method; write PACKAGE.SERVICE/METHOD, such as shop.Orders/Get", text)
	}
	return Method{full[:i], full[i+1:]}, nil
}

// Path returns the path of the method's URL.
func (m Method) Path() string { return "/" + m.service + "/" + m.name }

// Source has the description of a method.
type Source struct {
	// Descriptors is a FileDescriptorSet with all that it imports. If it is nil, the server is asked by reflection.
	Descriptors []byte

	// Server is the origin of the server, and Client speaks HTTP/2 with it.
	Server string
	Client *http.Client
	Header http.Header // of the questions to the server, which may have to know who asks
}

// ErrMessage is the error of a message that the method does not take.
var ErrMessage = errors.New("the message does not fit")

// Body returns the body of a request with the message, which is empty if the JSON is.
func (s Source) Body(ctx context.Context, m Method, json []byte) ([]byte, error) {
	files, err := s.files(ctx, m)
	if err != nil {
		return nil, err
	}
	method, err := m.in(files)
	if err != nil {
		return nil, err
	}
	message := dynamicpb.NewMessage(method.Input())
	if len(json) > 0 {
		if err := (protojson.UnmarshalOptions{Resolver: dynamicpb.NewTypes(files)}).Unmarshal(json, message); err != nil {
			return nil, messageError(method, err)
		}
	}
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		return nil, messageError(method, err)
	}
	return frame(encoded), nil
}

func messageError(method protoreflect.MethodDescriptor, err error) error {
	return fmt.Errorf("%w %s: %w", ErrMessage, method.Input().FullName(), clean(err))
}

// clean removes the prefix of protobuf's errors, which has a random blank.
func clean(err error) error {
	return errors.New(strings.TrimLeft(strings.TrimPrefix(err.Error(), "proto:"), " \u00a0"))
}

// frame returns a message with its prefix.
func frame(message []byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))) // 0: not compressed
	return append(b, message...)
}

// files returns the files that describe the method.
func (s Source) files(ctx context.Context, m Method) (*protoregistry.Files, error) {
	if s.Descriptors == nil {
		return s.reflect(ctx, m)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(s.Descriptors, &set); err != nil || len(set.File) == 0 {
		return nil, errors.New("this is no set of descriptors; make one with buf build -o FILE, or with protoc --include_imports " +
			"--descriptor_set_out=FILE")
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return nil, fmt.Errorf("the descriptors are not complete, use protoc --include_imports: %w", clean(err))
	}
	return files, nil
}

// in finds the method.
func (m Method) in(files *protoregistry.Files) (protoreflect.MethodDescriptor, error) {
	d, err := files.FindDescriptorByName(protoreflect.FullName(m.service))
	service, ok := d.(protoreflect.ServiceDescriptor)
	if err != nil || !ok {
		return nil, fmt.Errorf("there is no service %s; there are %s", m.service, strings.Join(servicesOf(files), ", "))
	}
	method := service.Methods().ByName(protoreflect.Name(m.name))
	switch {
	case method == nil:
		var names []string
		for i := range service.Methods().Len() {
			names = append(names, string(service.Methods().Get(i).Name()))
		}
		return nil, fmt.Errorf("%s has no method %s; it has %s", m.service, m.name, strings.Join(names, ", "))
	case method.IsStreamingClient() || method.IsStreamingServer():
		return nil, fmt.Errorf("%s/%s is a stream; only unary calls can be sent", m.service, m.name)
	}
	return method, nil
}
