package natssinktest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/log/natssink"
)

// Each way to authenticate delivers, and is refused with a clear error when it is wrong.
func TestEachAuthenticationDelivers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	seed, public := nkey(t, nkeys.CreateUser)
	otherSeed, _ := nkey(t, nkeys.CreateUser)
	operator, creds, otherCreds := credentials(t)

	root := certtest.Root(t, "root")
	cert, key := root.Issue(t, certtest.Options{}).Write(t, folder, "server")
	clientCert, clientKey := root.Issue(t, certtest.Options{Client: true}).Write(t, folder, "client")
	ca := file("ca.pem", string(certtest.PEM(root.Cert)))
	otherCA := file("other.pem", string(certtest.PEM(certtest.Root(t, "other").Cert)))
	secure := fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q", cert, key, ca)

	for name, c := range map[string]struct {
		config       string
		right, wrong string // URLs without host and subject
		want         string // the error of wrong
	}{
		"user": {
			"authorization { user: weir, password: \"a@b\" }\n",
			"nats://weir:a%40b@", "nats://weir:x@", "Authorization Violation",
		},
		"token": {
			"authorization { token: sesame }\n",
			"nats://sesame@", "nats://", "Authorization Violation",
		},
		"NKey": {
			fmt.Sprintf("authorization { users: [{nkey: %s}] }\n", public),
			"nats://?nkey=" + file("a.nk", seed), "nats://?nkey=" + file("b.nk", otherSeed), "Authorization Violation",
		},
		"credentials": {
			operator,
			"nats://?creds=" + file("a.creds", creds), "nats://?creds=" + file("b.creds", otherCreds),
			"Authorization Violation",
		},
		"certificate of the server": {
			secure + " }\n",
			"tls://?ca=" + ca, "tls://?ca=" + otherCA, "unknown authority",
		},
		"certificate of the client": {
			secure + ", verify: true }\n",
			"tls://?ca=" + ca + "&cert=" + clientCert + "&key=" + clientKey, "tls://?ca=" + ca, "certificate required",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := peer.StartNATS(t, peer.NATSOptions{JetStream: true, Config: c.config})
			right, wrong := withHost(c.right, n), withHost(c.wrong, n)
			l := open(t, right)
			l.Emit(10)
			l.AwaitError("no stream of JetStream")
			js := connectTo(t, right)
			createStream(t, js, jetstream.StreamConfig{})
			l.AwaitDelivery()
			all, _ := read(t, js)
			l.checkLines(all)

			refused := open(t, wrong)
			refused.Emit(1)
			refused.AwaitError(c.want)
		})
	}
}

// withHost inserts the host of a server and the subject into a URL.
func withHost(url string, n *peer.NATS) string {
	before, parameters, _ := strings.Cut(url, "?")
	return before + n.Address + "/" + subject + "?" + parameters
}

// connectTo connects a client with the settings of a URL.
func connectTo(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	a, err := natssink.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := a.Options.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// The error for a user without the permission to publish names the subject.
func TestMissingPermissionNamesTheSubject(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true, Config: `authorization { users: [
		{user: admin, password: x}
		{user: weir, password: x, permissions: {publish: "other", subscribe: "_INBOX.>"}}
	] }
`})
	createStream(t, connectTo(t, "nats://admin:x@"+n.Address+"/x"), jetstream.StreamConfig{})
	l := open(t, "nats://weir:x@"+n.Address+"/"+subject)
	l.Emit(1)
	l.AwaitError(`Permissions Violation for Publish to "` + subject + `"`)
}

// nkey returns the seed and the public key of a new pair.
func nkey(t *testing.T, create func() (nkeys.KeyPair, error)) (seed, public string) {
	t.Helper()
	pair := newNKey(t, create)
	text, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return string(text), publicKey(t, pair)
}

func newNKey(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func publicKey(t *testing.T, pair nkeys.KeyPair) string {
	t.Helper()
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return public
}

// credentials returns the configuration of a server with an operator and an account, and
// two files of credentials: that of a user of the account, and that of a user whose account
// the server does not know.
func credentials(t *testing.T) (config, right, wrong string) {
	t.Helper()
	operator := newNKey(t, nkeys.CreateOperator)
	account, system, stranger := newNKey(t, nkeys.CreateAccount), newNKey(t, nkeys.CreateAccount),
		newNKey(t, nkeys.CreateAccount)
	limits := func(jetStream int) map[string]any {
		return map[string]any{"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "conn": -1, "leaf": -1,
			"wildcards": true, "mem_storage": jetStream, "disk_storage": jetStream, "streams": jetStream, "consumer": jetStream}
	}
	accountToken := func(a nkeys.KeyPair, jetStream int) string {
		return token(t, operator, a, map[string]any{"type": "account", "version": 2, "limits": limits(jetStream)})
	}
	config = fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {\n%s: %s\n%s: %s\n}\n",
		token(t, operator, operator, map[string]any{"type": "operator", "version": 2}), publicKey(t, system),
		publicKey(t, system), accountToken(system, 0), publicKey(t, account), accountToken(account, -1))
	return config, userCredentials(t, account), userCredentials(t, stranger)
}

// userCredentials returns a file with the credentials of a new user of an account.
func userCredentials(t *testing.T, account nkeys.KeyPair) string {
	t.Helper()
	user := newNKey(t, nkeys.CreateUser)
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n"+
		"-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n",
		token(t, account, user, map[string]any{"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1}), seed)
}

// token returns a JWT of NATS.
func token(t *testing.T, issuer, subject nkeys.KeyPair, claims map[string]any) string {
	t.Helper()
	encode := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := encode(map[string]string{"typ": "JWT", "alg": "ed25519-nkey"}) + "." + encode(map[string]any{
		"jti": "test", "iat": time.Now().Unix(), "iss": publicKey(t, issuer), "name": "test", "sub": publicKey(t, subject),
		"nats": claims,
	})
	signature, err := issuer.Sign([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}
