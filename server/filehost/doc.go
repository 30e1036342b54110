// Package filehost is the domain: what the plugin does with a file host, in terms of ports that other packages
// implement. It imports none of them. One file is one use case: browse, attach, transfer, connect, health.
package filehost
