package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/proxy"
)

// TestWrongOptionIsNamed checks that an error names the upstream and the option that is wrong.
func TestWrongOptionIsNamed(t *testing.T) {
	t.Parallel()
	secret := []byte("secret")
	for want, options := range map[string]proxy.Options{
		`server "ftp://a"`:             {Servers: []proxy.Server{{URL: "ftp://a"}}},
		"weight is -1":                 {Servers: []proxy.Server{{URL: "http://a", Weight: -1}}},
		"path":                         {Servers: []proxy.Server{{URL: "http://a"}, {URL: "http://b/base"}}},
		"ProxyProtocol is":             {ProxyProtocol: 3},
		"ProxyProtocol and":            {ProxyProtocol: 1, HTTP2: true},
		"MaxFields":                    {MaxFields: -1},
		"ConnectRetry":                 {ConnectRetry: -time.Second},
		"Timeout is":                   {Timeout: -time.Second},
		"Retry.TryTimeout":             {Retry: proxy.Retry{TryTimeout: -time.Second}},
		"SlowStart":                    {SlowStart: -time.Second},
		"Balance":                      {Balance: 9},
		"HashKey needs":                {HashKey: proxy.HashKey{By: proxy.ByPath}},
		"HashKey.By":                   {Balance: proxy.Hash, HashKey: proxy.HashKey{By: 9}},
		"HashKey.Name":                 {Balance: proxy.Hash, HashKey: proxy.HashKey{By: proxy.ByHeader, Name: "a b"}},
		"has no name":                  {Balance: proxy.Hash, HashKey: proxy.HashKey{By: proxy.ByClient, Name: "a"}},
		"Limit.Max":                    {Limit: proxy.Limit{Max: -1}},
		"Limit.Queue needs Limit.Max":  {Limit: proxy.Limit{Queue: 1, Wait: time.Second}},
		"Limit.Queue needs Limit.Wait": {Limit: proxy.Limit{Max: 1, Queue: 1}},
		"Limit.Wait":                   {Limit: proxy.Limit{Max: 1, Wait: -1}},
		"Retry.Attempts":               {Retry: proxy.Retry{Attempts: 6}},
		"Retry.Methods":                {Retry: proxy.Retry{Methods: []string{"GET "}}},
		"Retry.On":                     {Retry: proxy.Retry{On: []proxy.RetryReason{"500"}}},
		"Sticky.Cookie":                {Sticky: &proxy.Sticky{Secret: secret}},
		"Sticky.Secret":                {Sticky: &proxy.Sticky{Cookie: "server"}},
		"Sticky.MaxAge":                {Sticky: &proxy.Sticky{Cookie: "server", Secret: secret, MaxAge: -1}},
	} {
		up, err := proxy.NewUpstream("site", options)
		if err == nil || up != nil || !strings.HasPrefix(err.Error(), "upstream site: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one about %s", err, want)
		}
	}
}
