package main

import (
	"context"
	"os"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/template"
	"go.etcd.io/etcd/server/v3/etcdmain"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// What only this minor has: the store that serves every minor, and the parts of the node.
func init() {
	programs["etcd"] = func() { etcdmain.Main(os.Args) }
	programs["coredns"] = coredns
	programs["kubelet"] = func() { run(kubelet.NewKubeletCommand(context.Background())) }
	programs["kube-proxy"] = func() { run(proxy.NewProxyCommand()) }
	programs["volume-provisioner"] = provisionVolumes
}

// coredns runs CoreDNS with the few plugins the test bed's Corefile uses, in this order.
func coredns() {
	dnsserver.Directives = []string{"bind", "ready", "errors", "cache", "loadbalance", "kubernetes", "template"}
	coremain.Run()
}
