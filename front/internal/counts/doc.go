// Package counts counts requests and reloads. It knows neither routes nor the configuration.
package counts
