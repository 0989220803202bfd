package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// localVolumes makes a `local` volume, a directory below base, for every claim of its storage classes.
// Unlike a hostPath volume, a local volume gets the pod's fsGroup from the kubelet.
type localVolumes struct{ base string }

func (l localVolumes) Provision(_ context.Context, o controller.ProvisionOptions) (*v1.PersistentVolume, controller.ProvisioningState, error) {
	if o.SelectedNodeName == "" {
		return nil, controller.ProvisioningFinished, fmt.Errorf("storage class %s must have volumeBindingMode WaitForFirstConsumer", o.StorageClass.Name)
	}
	dir := filepath.Join(l.base, o.PVName)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	onNode := v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{
		{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{o.SelectedNodeName}},
	}}
	return &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: v1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *o.StorageClass.ReclaimPolicy,
			AccessModes:                   o.PVC.Spec.AccessModes,
			Capacity:                      v1.ResourceList{v1.ResourceStorage: o.PVC.Spec.Resources.Requests[v1.ResourceStorage]},
			PersistentVolumeSource:        v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: dir}},
			NodeAffinity:                  &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{onNode}}},
		},
	}, controller.ProvisioningFinished, nil
}

func (l localVolumes) Delete(_ context.Context, volume *v1.PersistentVolume) error {
	return os.RemoveAll(filepath.Join(l.base, filepath.Base(volume.Spec.Local.Path)))
}

// provisionVolumes serves the storage classes of one provisioner name until it is stopped.
func provisionVolumes() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	base := flag.String("base", "", "directory that holds the volumes")
	provisioner := flag.String("provisioner", "dbrender.testbed/local", "provisioner name in the storage classes")
	klog.InitFlags(nil)
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		klog.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		klog.Fatal(err)
	}
	ctx := context.Background()
	controller.NewProvisionController(ctx, client, *provisioner, localVolumes{*base}, controller.LeaderElection(false)).Run(ctx)
}
