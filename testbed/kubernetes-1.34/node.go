package main

import (
	"context"
	"fmt"
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
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
	kustomize "sigs.k8s.io/kustomize/kustomize/v5/commands"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwokcmd "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

// What only this minor has: the store that serves every minor, the parts of a node, fake nodes and kustomize.
func init() {
	programs["etcd"] = func() { etcdmain.Main(os.Args) }
	programs["coredns"] = coredns
	programs["kubelet"] = func() { run(kubelet.NewKubeletCommand(context.Background())) }
	programs["kube-proxy"] = func() { run(proxy.NewProxyCommand()) }
	programs["volume-provisioner"] = provisionVolumes
	programs["kwok"] = kwok
	programs["kustomize"] = func() { run(kustomize.NewDefaultCommand()) }
}

// coredns runs CoreDNS with the few plugins the test bed's Corefile uses, in this order.
func coredns() {
	dnsserver.Directives = []string{"bind", "ready", "errors", "cache", "loadbalance", "kubernetes", "template"}
	coremain.Run()
}

// kwok plays the kubelet of fake nodes; this is kwok's own main function.
func kwok() {
	pflag.CommandLine = pflag.NewFlagSet("kwok", pflag.ContinueOnError) // Kubernetes' packages have put a --version there
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsWhitelist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, _ := kwoklog.InitFlags(signals.SetupSignalContext(), flags)
	ctx, err := kwokconfig.InitFlags(ctx, flags)
	if err == nil {
		command := kwokcmd.NewCommand(ctx)
		command.PersistentFlags().AddFlagSet(flags)
		err = command.ExecuteContext(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kwok:", err)
		os.Exit(1)
	}
}
