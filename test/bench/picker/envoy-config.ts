// Envoy as a gateway with InferencePools has it: one listener whose requests an endpoint picker gives their pod, and one that
// takes the pods in turn. Of the pods the picker's one knows nothing: the picker's answer names the address.

export interface EnvoyPorts {
  readonly picked: number;
  readonly inTurn: number;
  readonly picker: number;
}

const type = (name: string): string => `type.googleapis.com/envoy.${name}`;
const address = (host: string, port: number) => ({ socket_address: { address: host, port_value: port } });

/** @param hosts of the pods, which all listen on `podPort` */
export function envoyConfig(ports: EnvoyPorts, hosts: readonly string[], podPort: number): object {
  const endpoints = (name: string, of: readonly (readonly [string, number])[]) => ({
    cluster_name: name,
    endpoints: [{ lb_endpoints: of.map(([host, port]) => ({ endpoint: { address: address(host, port) } })) }],
  });
  const pods = hosts.map((host) => [host, podPort] as const);
  return {
    static_resources: {
      listeners: [listener('picked', ports.picked, [picking]), listener('in_turn', ports.inTurn, [])],
      clusters: [
        {
          name: 'picked',
          type: 'ORIGINAL_DST',
          lb_policy: 'CLUSTER_PROVIDED',
          original_dst_lb_config: {
            use_http_header: true,
            http_header_name: 'x-gateway-destination-endpoint',
          },
        },
        {
          name: 'in_turn',
          type: 'STATIC',
          lb_policy: 'ROUND_ROBIN',
          load_assignment: endpoints('in_turn', pods),
        },
        {
          name: 'picker',
          type: 'STATIC',
          load_assignment: endpoints('picker', [['127.0.0.1', ports.picker]]),
          typed_extension_protocol_options: {
            'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
              '@type': type('extensions.upstreams.http.v3.HttpProtocolOptions'),
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
          // Its certificate is its own: nobody has signed it.
          transport_socket: {
            name: 'envoy.transport_sockets.tls',
            typed_config: {
              '@type': type('extensions.transport_sockets.tls.v3.UpstreamTlsContext'),
              common_tls_context: { alpn_protocols: ['h2'] },
            },
          },
        },
      ],
    },
  };
}

const picking = {
  name: 'envoy.filters.http.ext_proc',
  typed_config: {
    '@type': type('extensions.filters.http.ext_proc.v3.ExternalProcessor'),
    grpc_service: { envoy_grpc: { cluster_name: 'picker' }, timeout: '10s' },
    processing_mode: {
      request_header_mode: 'SEND',
      response_header_mode: 'SEND',
      request_body_mode: 'FULL_DUPLEX_STREAMED',
      response_body_mode: 'FULL_DUPLEX_STREAMED',
      request_trailer_mode: 'SEND',
      response_trailer_mode: 'SEND',
    },
    message_timeout: '30s',
  },
};

function listener(cluster: string, port: number, filters: readonly object[]): object {
  const router = {
    name: 'envoy.filters.http.router',
    typed_config: { '@type': type('extensions.filters.http.router.v3.Router') },
  };
  const route = { match: { prefix: '/' }, route: { cluster, timeout: '0s' } };
  return {
    name: cluster,
    address: address('127.0.0.1', port),
    filter_chains: [
      {
        filters: [
          {
            name: 'envoy.filters.network.http_connection_manager',
            typed_config: {
              '@type': type('extensions.filters.network.http_connection_manager.v3.HttpConnectionManager'),
              stat_prefix: cluster,
              http_filters: [...filters, router],
              route_config: { virtual_hosts: [{ name: cluster, domains: ['*'], routes: [route] }] },
            },
          },
        ],
      },
    ],
  };
}
