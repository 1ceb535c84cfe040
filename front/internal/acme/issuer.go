package acme

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
)

// An issuer orders certificates. certmagic's own issuer would bind the ports of the challenges
// itself whenever it can, and write to the standard logger; see docs/decisions/certificates.md.
// It implements certmagic.Issuer and certmagic.RenewalInfoGetter.
type issuer struct {
	options  *Options
	accounts *accounts
	client   *acme.Client
	solvers  map[string]acmez.Solver // for names without a wildcard
	wildcard map[string]acmez.Solver
}

// orderTime is how long the server may take for an authorization or a certificate.
const orderTime = 90 * time.Second

// requestTime is how long one request to the server may take.
const requestTime = 30 * time.Second

func newIssuer(o *Options, storage certmagic.Storage, c *challenges, logger *zap.Logger) *issuer {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if o.Roots != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: o.Roots}
	}
	i := &issuer{
		options: o,
		client: &acme.Client{
			Directory: o.Directory, UserAgent: "weir", PollTimeout: orderTime,
			HTTPClient: &http.Client{Transport: transport, Timeout: requestTime},
			Logger:     slog.New(zapslog.NewHandler(logger.Core(), zapslog.AddStacktraceAt(slog.LevelError+1))),
		},
		solvers: map[string]acmez.Solver{}, wildcard: map[string]acmez.Solver{},
	}
	i.accounts = &accounts{client: i.client, storage: storage, email: o.Email, folder: "accounts/" + i.IssuerKey()}
	if o.HTTP {
		i.solvers[acme.ChallengeTypeHTTP01] = storedSolver{c}
	}
	if o.TLSALPN {
		i.solvers[acme.ChallengeTypeTLSALPN01] = storedSolver{c}
	}
	if o.DNS.Command != nil {
		i.wildcard[acme.ChallengeTypeDNS01] = o.DNS
		if o.DNSForAll {
			i.solvers[acme.ChallengeTypeDNS01] = o.DNS
		}
	}
	return i
}

// IssuerKey implements certmagic.Issuer: the name of the server's folders in the storage.
func (i *issuer) IssuerKey() string {
	u, err := url.Parse(i.options.Directory)
	if err != nil {
		return certmagic.StorageKeys.Safe(i.options.Directory)
	}
	return certmagic.StorageKeys.Safe(u.Host + strings.ReplaceAll(u.Path, "/", "-"))
}

// Issue implements certmagic.Issuer.
func (i *issuer) Issue(ctx context.Context, csr *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	account, err := i.accounts.use(ctx)
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	client := &acmez.Client{Client: i.client, ChallengeSolvers: i.solvers}
	if len(csr.DNSNames) > 0 && strings.HasPrefix(csr.DNSNames[0], "*.") {
		client.ChallengeSolvers = i.wildcard
	}
	order, err := acmez.OrderParametersFromCSR(account, csr)
	if err != nil {
		return nil, err
	}
	chains, err := client.ObtainCertificate(ctx, order)
	if isUnknownAccount(err) {
		// The server has lost its accounts, or the storage is from another server.
		if order.Account, err = i.accounts.replace(ctx, account); err != nil {
			return nil, fmt.Errorf("account: %w", err)
		}
		chains, err = client.ObtainCertificate(ctx, order)
	}
	if err != nil {
		return nil, err
	}
	return &certmagic.IssuedCertificate{Certificate: chains[0].ChainPEM, Metadata: chains[0]}, nil
}

// GetRenewalInfo implements certmagic.RenewalInfoGetter (RFC 9773).
func (i *issuer) GetRenewalInfo(ctx context.Context, c certmagic.Certificate) (acme.RenewalInfo, error) {
	return i.client.GetRenewalInfo(ctx, c.Certificate.Leaf)
}
