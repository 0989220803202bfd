# shellcheck shell=bash
# Throw-away certificates and the kubeconfigs made of them.
# In: a directory, the addresses and the port of the API server. Out: NAME.crt, NAME.key, NAME.kubeconfig in the directory.

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

new_authority() {
  new_key "$1.key"
  openssl req -x509 -new -key "$1.key" -sha256 -days 3650 -subj "/CN=$1" -addext keyUsage=critical,keyCertSign,cRLSign -out "$1.crt"
}

# new_certificate NAME AUTHORITY SUBJECT USAGE [ALTERNATIVE NAMES]
new_certificate() {
  local extensions="basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=$4\n${5:+subjectAltName=$5\n}"
  new_key "$1.key"
  openssl req -new -key "$1.key" -subj "$3" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA "$2.crt" -CAkey "$2.key" -CAcreateserial -days 3650 -sha256 \
    -extfile <(printf '%b' "$extensions") -out "$1.crt" 2>/dev/null
  rm "$1.csr"
}

# new_kubeconfig NAME SERVER
new_kubeconfig() {
  cat >"$1.kubeconfig" <<EOF
apiVersion: v1
kind: Config
clusters: [{name: testbed, cluster: {server: "$2", certificate-authority-data: $(base64 -w0 ca.crt)}}]
users: [{name: $1, user: {client-certificate-data: $(base64 -w0 "$1.crt"), client-key-data: $(base64 -w0 "$1.key")}}]
contexts: [{name: testbed, context: {cluster: testbed, user: $1}}]
current-context: testbed
EOF
}

# certificates DIRECTORY PORT HOST-ADDRESS NODE-NAME NODE-ADDRESS
certificates() {
  local port=$2 host=$3 node=$4 node_address=$5
  mkdir -p "$1"
  chmod 700 "$1"
  (
    cd "$1" || exit
    new_authority ca
    new_authority front-proxy-ca
    new_certificate apiserver ca /CN=kube-apiserver serverAuth \
      "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,IP:127.0.0.1,IP:10.96.0.1,IP:$host"
    new_certificate kubelet-server ca "/CN=$node" serverAuth "DNS:$node,IP:$node_address"
    new_certificate apiserver-kubelet-client ca /O=system:masters/CN=kube-apiserver-kubelet-client clientAuth
    new_certificate front-proxy-client front-proxy-ca /CN=front-proxy-client clientAuth
    new_certificate admin ca /O=system:masters/CN=testbed-admin clientAuth
    new_certificate controller-manager ca /CN=system:kube-controller-manager clientAuth
    new_certificate scheduler ca /CN=system:kube-scheduler clientAuth
    new_certificate kubelet ca "/O=system:nodes/CN=system:node:$node" clientAuth
    new_certificate kube-proxy ca /CN=system:kube-proxy clientAuth
    openssl genrsa -out service-account.key 2048 2>/dev/null
    openssl rsa -in service-account.key -pubout -out service-account.pub 2>/dev/null
    for name in admin controller-manager scheduler; do new_kubeconfig "$name" "https://127.0.0.1:$port"; done
    for name in kubelet kube-proxy; do new_kubeconfig "$name" "https://$host:$port"; done
    # the volume provisioner and the DNS server of the node, as the administrator
    cp admin.crt node-admin.crt
    cp admin.key node-admin.key
    new_kubeconfig node-admin "https://$host:$port"
  )
}
