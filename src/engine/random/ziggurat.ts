import type { Pcg64Words } from './pcg64.ts'

/**
 * Six tables of 256 little-endian doubles in base64: thresholds, widths and heights of the normal distribution,
 * then of the exponential. The values are NumPy's (BSD licence), written by golden/make_ziggurat_tables.py.
 */
const packed = [
  '1N5LAHvmLUMAAAAAAAAAAFCN9zF9EShDhAJ79alGK0PU3YP97KMsQ/zup9OrZC1DcpX9ApfeLUNUifQVjjIuQzCW/8Paby5DuErC',
  'Ko2eLkMsRzfIS8MuQ0gtp+r04C5DNIlQ2GX5LkOmr8YY4g0vQ7xLBq9MHy9DtKGbjkkuL0MS6rcPUjsvQ+j0A+vBRi9D8Je2vN9Q',
  'L0O4qabB4lkvQx5yMc72YS9DjOmmGj9pL0Pu/M1G2G8vQxzKQ9PZdS9D2hcIOld7L0Ou2P7BYIAvQ5BEbyAEhS9DorfE9UyJL0Ni',
  '3PUuRY0vQ0gtUVL1kC9DCr2XvGSUL0M0RgTSmZcvQ4hz8CWami9DMtkfm2qdL0Ngkjt+D6AvQ8yJrZuMoi9DoOjFUeWkL0M8kuGf',
  'HKcvQ/BoITM1qS9Dph4kcTGrL0PYMx2BE60vQ2TQkVPdri9D0BH2qJCwL0MYWVoXL7IvQ6RbTw+6sy9DGL0g4DK1L0NAXIC7mrYv',
  'Q6D5t7jyty9D+jRz1zu5L0M65TACd7ovQyBfaBCluy9DyD5tyMa8L0Ocohrh3L0vQ1xoTQPovi9DgNozy+i/L0PkSXjJ38AvQ7BE',
  'S4TNwS9DmHBReLLCL0Myf3gZj8MvQ1Q5ttNjxC9DIje0CzHFL0MMg2of98UvQ5Qaq2a2xi9DVACgM2/HL0P+Wj3TIcgvQ2juqI3O',
  'yC9DuBKYpnXJL0NIKqVdF8ovQ/B4ne6zyi9DJCTIkUvLL0MSDSd83ssvQ/Agst9szC9D8KqN6/bML0NUIzzMfM0vQ+Tpy6v+zS9D',
  'BE4BsnzOL0NyPH0E984vQ0Th4MZtzy9DhoTuGuHPL0MY4acgUdAvQ3Quava90C9DyBAIuSfRL0N4neGDjtEvQ+yd+nDy0S9DOjYP',
  'mVPSL0PUEacTstIvQ0Q1J/cN0y9DzJDiWGfTL0OqbSlNvtMvQ/jMV+cS1C9DSM3iOWXUL0NYKmVWtdQvQzToqk0D1S9D4Dm8L0/V',
  'L0NAsucLmdUvQ3jMy/Dg1S9DJthf7CbWL0OUVPwLa9YvQ2jFYlyt1i9D9AnF6e3WL0MoQMy/LNcvQ/g6n+lp1y9DoJPocaXXL0N8',
  'XNxi39cvQ9B7PcYX2C9DKrRipU7YL0OmXzsJhNgvQyzjU/q32C9D6N3ZgOrYL0NoGaCkG9kvQyQ+Im1L2S9D/E+I4XnZL0Mq9qkI',
  'p9kvQ2aREenS2S9DbiP/iP3ZL0NQCmvuJtovQwaSCB9P2i9DmF5IIHbaL0PcsFr3m9ovQ7qHManA2i9D0J+COuTaL0MEU8mvBtsv',
  'Q5BZSA0o2y9DCG4LV0jbL0No1eiQZ9svQ6TMgr6F2y9DpNxI46LbL0OmFXkCv9svQwAzIR/a2y9DKKgfPPTbL0OIlyRcDdwvQwy0',
  'soEl3C9DwA0grzzcL0NIypbmUtwvQ3jJFSpo3C9DeDZxe3zcL0PoBVPcj9wvQwxhO06i3C9Dgv6A0rPcL0NcaFFqxNwvQ+IvsRbU',
  '3C9D9A582OLcL0ME92Sw8NwvQ3QN9p793C9DZJWQpAndL0OGxmzBFN0vQ6KQmfUe3S9DtEv8QCjdL0PUU1CjMN0vQ7iQJhw43S9D',
  '6Ofkqj7dL0NcmcVORN0vQ1iF1gZJ3S9D4lr40UzdL0P0rd2uT90vQxT0CZxR3S9DdmbQl1LdL0MgyFKgUt0vQ7wOgLNR3S9DqOwS',
  'z0/dL0NIOpDwTN0vQwY9RRVJ3S9DtMlFOkTdL0NIQGpcPt0vQ1xeTXg33S9DyOVJii/dL0N0FHiOJt0vQyzqqoAc3S9D9DhtXBHd',
  'L0P6e/4cBd0vQxBxT7333C9D/m/+N+ncL0O8elOH2dwvQ/wAPKXI3C9DEFFGi7bcL0Nsr5wyo9wvQ54NAJSO3C9DoFjCp3jcL0Ow',
  'VcBlYdwvQwoEW8VI3C9DtHhwvS7cL0OOKFREE9wvQ5iTxk/22y9D2ELs1NfbL0P8CETIt9svQ6ZznB2W2y9D6FkIyHLbL0OScdK5',
  'TdsvQxrTb+Qm2y9DbFBxOP7aL0NWgHOl09ovQwBcDRqn2i9DREi9g3jaL0OwX9TOR9ovQ4jMX+YU2i9DaPwPtN/ZL0Nwbx0gqNkv',
  'Q2jdKhFu2S9DgmEkbDHZL0PwUhsU8tgvQ/xjHuqv2C9DxJINzWrYL0NqZmmZItgvQ6DfHCnX1y9DJG1BU4jXL0O4GdzrNdcvQ4QK',
  'k8Pf1i9DPD9ap4XWL0OWWhZgJ9YvQ9IFNLLE1S9DrkQyXV3VL0NMxh0b8dQvQ8rn+p9/1C9D7LMbmQjUL0N2rF6si9MvQ0iPUncI',
  '0y9DUI46jn7SL0Osi+167dEvQ8zRibtU0S9D1GP1wLPQL0OAUiHtCdAvQ4BnBJFWzy9DStU+6pjOL0MERFUg0M0vQ7BXbUH7zC9D',
  '/GBwPhnML0OE7nHmKMsvQwDlLuEoyi9DsOhtqBfJL0NuPPp/88cvQzhj3Wu6xi9D/MlfJGrFL0OuqjIHAMQvQygG8QR5wi9DYM/c',
  'idHAL0NU41ZgBb8vQ1T9/YoPvS9D+neME+q6L0MmflPKjbgvQwQFXPDxtS9D6nRlwwuzL0MInpHeza8vQxbKelsnrC9DJODFkwKo',
  'L0NYj2lPQ6MvQzw/7AjEnS9DZCO8sFGXL0NEWprdpI8vQ9pFPF5Whi9DdHCBA8t6L0NoqACIDWwvQ+hQVLCAWC9DMIsCPC49L0P4',
  'O0iR9BMvQ1hg4O+LzS5DlDhmlrQ0LkN52RV4O0nPPMb2/eMLjYs8tFssPK9QkjxhO0Q4uXyVPAynL+j8AZg8vNBMLgwjmjz3YTgv',
  'TQCcPHRydFovrJ08w9VMLUgynzytu44nMk2gPENdAjsF9aA8dzZBl6aSoTz1GnqPoieiPIDYYzgutaI89ZFXwD88ozwvsaLBnr2j',
  'PFWb/43vOaQ8p/49NruxpDx00xpidSWlPJbOB6eAlaU86n7ZzzECpjw9fKNh0mumPHAFAJKi0qY8pvhG09o2pzx3KrMQrZinPEP1',
  'Rq1F+Kc8dwpDU8xVqDyadnueZLGoPJjPTqkuC6k86h4sgkdjqTxGxTiOybmpPCynpNzMDqo8Wc13bWdiqjwwFhBurbSqPJxsE22x',
  'Bas8KXpCh4RVqzw6n1KONqSrPDKCvyrW8as8805Z+XA+rDxhOzKlE4qsPIsmcv7J1Kw8SLeADp8erTwQH+QpnWetPMO4IwDOr608',
  'U3bxqTr3rTz+7dK16z2uPABvejPpg648zoL5vTrJrjwmYvCE5w2vPIj22FT2Ua88rteHnm2VrzysLvp9U9ivPOw0QuBWDbA8mo85',
  '9UAusDz8pRae6k6wPBCgcltWb7A8C/RxkIaPsDwTYbyEfa+wPH/MS2Y9z7A8awgWS8jusDzuFZUyIA6xPL4PMQdHLbE8QZGOnz5M',
  'sTweIMS/CGuxPDTaeBqnibE8iG3uURuosTzLKvj4ZsaxPC7U4JOL5LE8n6BAmYoCsjzpxsRyZSCyPB/D6X0dPrI8+2upDLRbsjx/',
  '0x1mKnmyPBvXGceBlrI82i64YruzsjxTuOFi2NCyPI6py+jZ7bI810huDcEKszwwufThjiezPKFeJnBERLM81VLKuuJgszxqWAW+',
  'an2zPGSysm/dmbM8Az24vzu2szzgHVaYhtKzPINact6+7rM8dJ7gceUKtDxddKYt+ya0PKQwPOgAQ7Q8XcfKc/detDw2w2ae33q0',
  'PC+PSDK6lrQ8XUEC9oeytDzcEbOsSc60PAWmOBYA6rQ8YlVe76sFtTxaiwryTSG1PE9matXmPLU8yLIbTndYtTx4X1UOAHS1PBSF',
  'DsaBj7U8WRskI/2qtTw9c33Rcsa1PNOML3vj4bU8OF6fyE/9tTzDH6NguBi2PKKwougdNLY8Cya3BIFPtjxylslX4mq2PDcxsYNC',
  'hrY8sbJQKaKhtjy7Q7PoAb22PFLTKGFi2LY8VPhhMcTztjzraIv3Jw+3PMYUaVGOKrc83O5w3PdFtzwfc+U1ZWG3PEn07/rWfLc8',
  'k726yE2YtzwJFIs8yrO3PPsi2/NMz7c8595zjNbqtzwf6oakZwa4PHaGyNoAIrg8FZ+JzqI9uDy99dEfTlm4PMV+em8Ddbg8LfdH',
  'X8OQuDxDwAWSjqy4PJwMoatlyLg8J2pEUUnkuDyPtXMpOgC5PEeDKNw4HLk8/ArvEkY4uTyKogN5YlS5PO7VcLuOcLk8MSouicuM',
  'uTy/mT+TGam5PCzZ1Yx5xbk8EXRvK+zhuTxK0vomcv65PJI2+TkMG7o8W8iiIbs3ujyIuwuef1S6PKSpSnJacbo8PTGgZEyOujwI',
  '8Z8+Vqu6PM71Ws14yLo8NrOL4bTlujwaocNPCwO7PFuYmvB8ILs8AAzgoAo+uzwDPc5BtVu7PCeJP7l9ebs8PPfl8WSXuzxuJYXb',
  'a7W7PKLALmuT07s8g66Bm9zxuzygFuxsSBC8PC168OXXLrw8HA1uE4xNvDwFh+wIZmy8PBem6+Bmi7w8q6I2vY+qvDyQ1jvH4cm8',
  'PDfgaDBe6bw8bo+LMgYJvTwg7zcQ2yi9PEfGMxXeSL08I/HnlhBpvTyl+9f0c4m9PHBuIJkJqr08Dkn8+NLKvTw3LlKV0eu9PBzS',
  'SfsGDb489kbqxHQuvjyI0cGZHFC+PCX+ly8Acr48Cr8qSyGUvjwIb/fAgba+PDqnEHYj2b48qewBYQj8vjwhU8KKMh+/PG1Ntw+k',
  'Qr88aAHJIF9mvzyCl4kEZoq/PL8icRi7rr88hecv0mDTvzwL9hjBWfi/PHWg00fUDsA8R8mPAqghwDyrAqmDqTTAPMf1Pk7aR8A8',
  'frOt9jtbwDxoJqcj0G7APBcuY4+YgsA8VKLoCJeWwDzEwHF1zarAPEjU7tE9v8A8MD2qNOrTwDyTZRHP1OjAPLafpu///cA8QXAg',
  'BG4TwTw1XbubISnBPG0JxGkdP8E8Oy5gSGRVwTzz7p07+WvBPGES0nTfgsE8rOtOVhqawTyOL393rbHBPJSmcamcycE8Oa7k++vh',
  'wTwB2eLCn/rBPIHMBJ28E8I87tNvekctwjwknKykRUfCPOBYdse8YcI8Llmo+rJ8wjx4DnfNLpjCPFIKKlM3tMI8l9uWMdTQwjz1',
  'eKmxDe7CPO6uVtLsC8M8o6RoXnsqwzyjEq4FxEnDPECoM3rSacM8CkFWkrOKwzz6iK5wdazDPKYEF7Mnz8M8dfRgqtvywzza5bmc',
  'pBfEPJReVBWYPcQ8FTqnRM5kxDy8Q5x1Yo3EPCdaa51zt8Q8AonNDSXjxDxBrOlTnxDFPEJ+OlIRQMU8G+RKqbFxxTzZjXGLwKXF',
  'PP7QOiSK3MU8TB6Gz2kWxjzqagB7zlPGPMPln75AlcY8MuIJjWvbxjw0el/wKCfHPHMGCVaVecc8jM7W9C3Uxzw08ikFAznIPBR8',
  'qr8Pq8g8lkRvlOAuyTyrV0AB7svJPFp3lHjcj8o8sf14OB+YyzwzrQmCtDvNPAAAAAAAAPA/h/B5yWpE7z8VqWxbVLfuP3fwJ+AR',
  'P+4/ld4Ep2/T7T/yvFcGknDtP9wZoXhJFO0/6y2nqDO97D9/eKnOXmrsP+q67tkcG+w/gtzhTuvO6z9S9Y86ZYXrPxDdNII6Pus/',
  'ouhsPyr56j8EJXrx/rXqP+HJUNWLdOo/D6/1/ao06j/YH2XuO/bpP4EGJI0iuek/wXphV0Z96T9HehvCkULpP09xMb3xCOk/qArm',
  'T1XQ6D8C37pIrZjoP6y8N/zrYeg/bs9WDwUs6D/L4iBL7fbnP1honHeawuc/1bCgPAOP5z9W2HAHH1znPxJtP/TlKec/7nrqulD4',
  '5j+JWmOeWMfmPyo7UV73luY/I+OSKidn5j8YDFWY4jfmP2UmgJgkCeY/av9Kb+ja5T+JXMisKa3lP4+NTCbkf+U/Rp6N8BNT5T/V',
  'bGVatSblP2e2IOjE+uQ/wE5JTz/P5D94UtxyIaTkPxJQ319oeeQ/eTZJShFP5D/jXzWKGSXkP4JbWJl+++M/ozGvED7S4z8OzWKm',
  'VanjP9UA2ivDgOM/6VD1i4RY4z81OnDJlzDjP+84ZP36COM/7jvqVazh4j9KldcUqrriPxXNk47yk+I/7QQFKYRt4j+E25BaXUfi',
  'P/L3L6l8IeI/IJaSqeD74T9pmVT+h9bhPxHRP1dxseE/UDybcJuM4T/aOYYSBWjhP5ypXhCtQ+E/OB8xSJIf4T8TWTKis/vgP6BC',
  'QRAQ2OA/rtlwjaa04D+BXZkddpHgPzY88Mx9buA/Lj+mr7xL4D8qgovhMSngP8TKuIXcBuA/ob17jHfJ3z/KAKmnnYXfP/N6L8sp',
  'Qt8/lY9+cRr/3j9UH70gbrzeP8XDTmojet4/hZtf6jg43j8JOnZHrfbdP7FWCzJ/td0/M94mZK103T+AEAKhNjTdP21brrQZ9Nw/',
  'SKjAc1W03D/H1wC76HTcP7gsHW/SNdw/F2phfBH32z+RbXHWpLjbPxsTB3iLets/yjGzYsQ82z9ShaGeTv/aP55aXzopwto/gNik',
  'SlOF2j9NwCDqy0jaPz6ERjmSDNo/35MeXqXQ2T/GwBiEBJXZP5Of4NuuWdk/F8szm6Me2T8V8bn84ePYP4iR3j9pqdg/tlqsqDhv',
  '2D/ZDap/TzXYPxHZuBGt+9c/sBT0r1DC1z/rUpKvOYnXP+2xx2lnUNc/TGGpO9kX1z+qTBKGjt/WPyHeiK2Gp9Y/4sslGsFv1j8V',
  '5Xs3PTjWP8jSgHT6ANY/RMJ2Q/jJ1T++7tYZNpPVPwABPXCzXNU/7TtTwm8m1T+Sbb+OavDUP6KcEFejutQ/1GqtnxmF1D/+JMPv',
  'zE/UPxl6NdG8GtQ/29KO0Ojl0z+uQ/F8ULHTP3kTCGjzfNM/ntH5JdFI0z8v9lpN6RTTP2YHIXc74dI/3T+WPset0j8esU1BjHrS',
  'P4neFx+KR9I/nsz3ecAU0j8WgRj2LuLRP1DwwjnVr9E/6FRU7bJ90T9n7jS7x0vRPyMkz08TGtE/xAmHWZXo0D/aQrKITbfQPzZD',
  'kI87htA/2elCIl9V0D9+dMf2tyTQP8WT34mL6M8/NTK4jBCIzz/SmOls/ifPP0ScyaRUyM4/3TwoshJpzj+EcUUWOArOPwqQx1XE',
  'q80/T1Gy+LZNzT/Mb16KD/DMP1PfcZnNksw/R53Yt/A1zD+hGL56eNnLP6oxh3pkfcs/OtHMUrQhyz8HGFeiZ8bKP34mGQt+a8o/',
  'PX4tMvcQyj9a/tK/0rbJPyd8al8QXck/afp0v68DyT9bgZKRsKrIPziagYoSUsg/dXEfYtX5xz8jo2jT+KHHP6a1epx8Ssc/FkeW',
  'fmDzxj9c8iE+pJzGP5zxraJHRsY/+YP4dkrwxT9sHfOIrJrFPzVoyKltRcU/wR/jrY3wxD8tzvVsDJzEP9V1A8LpR8Q/rjFpiyX0',
  'wz/u1+iqv6DDP4irtAW4TcM/ZSp8hA77wj8aB3oTw6jCP7deg6LVVsI/NDwYJUYFwj9CfXWSFLTBP2MtqOVAY8E/uW6iHcsSwT+6',
  'CVI9s8LAP4W/uEv5csA/Kn0GVJ0jwD8sImvLPqm/PxwOUin/C78/S6Wa8ntvvj+P6HZhtdO9P+WRvbmrOL0/CnQ7SV+evD8VEAto',
  '0AS8PzPi8nj/a7s/M/bK6ezTuj+GYuozmTy6PxlbndwEprk/q6CkdTAQuT9SKL+dHHu4P9bvPgHK5rc/dhGqWjlTtz9MSmlza8C2',
  'PxhNhSRhLrY/pGZ0VxudtT+uK/oGmwy1PxMiG0DhfLQ/hpomI+/tsz9wPtnkxV+zPxExm89m0rI/kQ3dRNNFsj99iZe+DLqxP50X',
  '8tAUL7E/JZYVLO2ksD+X5DCelxuwPzVubCssJq8/gVGyR9UWrj9i8a3+LgmtPywqKA8+/as/cF84kAfzqj9jVSn5kOqpP6u1aCrg',
  '46g/Hievd/vepz9k0Jiz6dumP9St8jyy2qU/XScRDl3bpD/L7pjO8t2jP5f0Peh84qI/vGofnwXpoT8RgJYumPGgP8SlGNeB+J8/',
  'dYyC2xoSnj8aCc2DGTCcP/jrIk6fUpo/CsEAttF5mD+Cvwv02qWWP2Sw+/Lq1pQ/E16rjTgNkz8SMGA0A0mRP0ndck8qFY8/rI9P',
  'J42kiz94pI0NBEGIP+DPGkKW64Q/ki+VKZKlgT83aOz4YOF8P124DNmonnY//bGwAx+KcD9nsMFDn19lPw/3ubYFplQ/xpckJxRS',
  'PEMAAAAAAAAAAH4xnNdbfTNDEDw/jvVuOEOusA4yt5s6Q3xEGfcn0TtDGmWIDx2VPENyOVwt/hs9Q7IYa9Vbfj1DcCwX3TTJPUPI',
  'nazfCQQ+QzZ41HF7Mz5Dord8F4taPkNsBG8JQns+Qz6uCK8Nlz5DnvBOsfWuPkNWZbQHvcM+Q86Zh/D21T5DiFZurhTmPkPQHDbK',
  'bvQ+Q6TU3XZLAT9DtpanE+MMP0N69/FpYxc/Q3AlRQzyID9DdKhRGa4pP0MyVbmPsTE/QwbBV1ESOT9DTGlu6+I/P0P6iNcyM0Y/',
  'Qw46Hb8QTD9DIjNcTIdRP0PA7MMJoVY/Q5aZCdlmWz9DjNAQguBfP0NyV0TdFGQ/Q3iWhfYJaD9D5gIrKsVrP0P05DI9S28/Qzrx',
  'kHGgcj9D1glNl8h1P0PAXAQbx3g/Q/Q/QRKfez9Dip8HRlN+P0M4EeI75oA/Q2KRrT1agz9DErlWYLGFP0NiQrKJ7Yc/Q/p0k3UQ',
  'ij9DrDk9uhuMP0NK0EXMEI4/QxY+AQLxjz9D4FiDlr2RP0PYr0esd5M/Q9pki08glT9DkjhjeLiWP0OSiJYMQZg/Q4C6RuG6mT9D',
  'AH9pvCabP0N6cRtWhZw/QwLYz1nXnT9DzqFhZx2fP0PANgkUWKA/QzgzOuuHoT9D/MRrb62iP0OCBs4ayaM/Q6Jq7l/bpD9DfAlN',
  'quSlP0OCZ+Re5aY/Q8Qepdzdpz9DdKjmfM6oP0PuX86Tt6k/Q1i4rXCZqj9DMoJYXnSrP0OEBXSjSKw/Q+ifv4IWrT9DwIJXO96t',
  'P0NsHfIIoK4/Q36wGCRcrz9DEnpbwhKwP0P034EWxLA/Q/rxtlBwsT9DOpaynheyP0NKqN8rurI/QxhOfyFYsz9DDL7JpvGzP0PW',
  'rAzhhrQ/Q/yTx/MXtT9Dqv3FAKW1P0NY/jcoLrY/QwoByYiztj9DmAe1PzW3P0Oofdxos7c/Qwi61h4uuD9D9kcDe6W4P0N0D5qV',
  'Gbk/QwRyuoWKuT9DJm95Yfi5P0OG4u49Y7o/QxbsQS/Luj9DRJG0SDC7P0PipK6ckrs/Q54CyDzyuz9DlCnSOU+8P0PUQOGjqbw/',
  'Q56PVIoBvT9DnHLe+1a9P0Nq1osGqr0/Q0A/y7f6vT9D3mRzHEm+P0NeaclAlb4/QyixhjDfvj9DdGHe9ia/P0PiioKebL8/Q8QE',
  'qTGwvz9DsP0PuvG/P0OIRQJBMcA/Q7JUW89uwD9DJhSLbarAP0OKaZkj5MA/Q2SKKfkbwT9DQhl99VHBP0NKD3cfhsE/Q7R0nn24',
  'wT9DQuogFunBP0PeBdXuF8I/Q/6DPA1Fwj9Dwk+GdnDCP0MOY5AvmsI/Q0aA6TzCwj9DtMbSoujCP0PsIkFlDcM/Qw6c3ocwwz9D',
  'xn4LDlLDP0P4Zt/6ccM/Q4YoKlGQwz9D+pd0E63DP0NIMwFEyMM/Q0CrzOThwz9DqE2O9/nDP0NgULh9EMQ/Q2j9d3glxD9Dxr+1',
  '6DjEP0MqERXPSsQ/Q+hH9CtbxD9DBEVs/2nEP0OyAVBJd8Q/Q7j7KwmDxD9D9n9FPo3EP0Ma0pnnlcQ/Q7Aw3QOdxD9DMrR5kaLE',
  'P0P8B46OpsQ/Q4z76/ioxD9DnuoWzqnEP0M0+kELqcQ/Q6AoTq2mxD9DdC7IsKLEP0PiLeYRncQ/Q/QthcyVxD9DwF4m3IzEP0N6',
  'I+w7gsQ/Q+beluZ1xD9Dgn6B1mfEP0M2wJ0FWMQ/QyAucG1GxD9DmMsLBzPEP0MObg3LHcQ/Q/a7lrEGxD9DYstIsu3DP0M8WT7E',
  '0sM/Q7SRBd61wz9DTGGZ9ZbDP0OSRVoAdsM/Q3CTBvNSwz9DGCiywS3DP0OIeL1fBsM/Q2Lyy7/cwj9Dnp+507DCP0Pw/I+MgsI/',
  'Q2TxedpRwj9DntO2rB7CP0NWZ4zx6ME/Qzy7N5awwT9DEM3chnXBP0O21nSuN8E/QxQku/b2wD9DpE0YSLPAP0Pwr4uJbMA/Q2Tz',
  'kqAiwD9DuHIPcdW/P0OOSCndhL8/QwrGL8Uwvz9Dxgx3B9m+P0PafTKAfb4/QxSmSwkevj9DCEQ1erq9P0Mm+LmnUr0/QxogxmPm',
  'vD9D5E0sfXW8P0Oqt2O//7s/Q6LmP/KEuz9DjNGg2QS7P0OscBo1f7o/Qxi2kr/zuT9D/KvULmK5P0MWShczyrg/Q1RbdnYruD9D',
  'XIlbnIW3P0OUVdVA2LY/Q0Jp2fcitj9D4DdvTGW1P0PSab+/nrQ/Q0bnA8jOsz9DPpxTz/SyP0NSKEQyELI/QwSWWj4gsT9DwuFC',
  'MCSwP0OmecQxG68/QwThZ1cErj9Dci2/nd6sP0MKBkDmqKs/Qyj/mfNhqj9DomZvZQipP0M8jVCzmqc/QxTy0SYXpj9DAOqL1Huk',
  'P0OUwMWTxqI/QxTzffT0oD9DCr5rMwSfP0O8+Xkr8Zw/Q8SrFUS4mj9DuC94W1WYP0N4P9Crw5U/Q/Lxzqn9kj9DHOSa2vyPP0P4',
  'hXOeuYw/QwaWR+wqiT9DjtsE+UWFP0OaAzbD/YA/QybpOXhCfD9DzCpYowB3P0McJBoPIHE/Qyo1tzSCaj9DZuKoAABjP0PE40+Q',
  'Zlo/Q3IRzk5yUD9D2m9cZsdEP0OiWYqj5TY/Qwo0UDQUJj9DFAR7BD4RP0Pmy1f6rvY+Qx4ViKGM0z5DsC0SHqaiPkN8JovHYVk+',
  'Q7ALrCv23T1DwOjk2U3bPEPBXb+U7GTRPBlBXYudWGA8K01bSbLWajy6jVupNZNxPHMqSuXmInU8gHrC+5BQeDzMt3nv0Th7PJi9',
  'bbfY7H08PFzGSfA7gDxw9tYk23CBPDMm2pACmII8ym49/oizgzwh/gvGFcWEPMNKAp34zYU8vSun8EDPhjwZ0BfazcmHPG9g01RZ',
  'vog80jciVYCtiTwDUl2+yJeKPMSj3d2lfYs8iT+M13tfjDw2fPFNoj2NPFpz8XhmGI48qk9fzwzwjjwJMmhd0sSPPFh1au12S5A8',
  '/ICbR0izkDyv9UmH8xmRPKDfS+uMf5E850k+6SbkkTwu/zhl0keSPAtoI+GeqpI8S9ompZoMkzwCgm3i0m2TPKBiIdFTzpM8SGdw',
  'yigulDwS5zVfXI2UPJMLzWv465Q8TW94KQZKlTz9vrg9jqeVPM8u3ceYBJY84GgMbS1hljxEqfpiU72WPLuQeXkRGZc8c3kHI250',
  'lzxygX58b8+XPJnV/lMbKpg87OErL3eEmDwqxdBQiN6YPESi/b1TOJk8OBOtQt6RmTy/A/91LOuZPEqIFL5CRJo8YdKWUyWdmjzJ',
  'JPJE2PWaPJuXTHlfTps8iY8/s76mmzyZ/lmT+f6bPJ/ScJoTV5w821rCKxCvnDz75vCO8gadPI1r2PG9Xp08V5BCanW2nTz+MXz3',
  'Gw6ePEQQz4O0ZZ48Yhvi5UG9njyflALixhSfPLX+VytGbJ88oakEZcLDnzzZPJoRnw2gPGKxDfZdOaA8+HZyHB9loDxyAEu745Cg',
  'PDcBcQOtvKA8Zi96IHzooDwVrBc5UhShPL59cG8wQKE8+3934RdsoTyWIz2pCZihPINSPd0GxKE84sSpkBDwoTwFDrHTJxyiPCmj',
  'wrNNSKI8nxjQO4N0ojyqzYt0yaCiPF07pWQhzaI8IRcDEYz5ojwRdvt8CiajPKEbiqqdUqM88BqFmkZ/ozz8789MBqyjPG0zjcDd',
  '2KM8xAlP9M0FpDzQbEbm1zKkPKdscZT8X6Q8xIPI/DyNpDykGGsdmrqkPOpFy/QU6KQ8+wDZga4VpTz4tSzEZ0OlPCdvMbxBcaU8',
  '+ZxOaz2fpTw1kxHUW82lPCbPVvqd+6U8Lhpz4wQqpjyMm1yWkVimPO7r0xtFh6Y83zyNfiC2pjwIplnLJOWmPPupUBFTFKc8HAT6',
  'YaxDpzww0XfRMXOnPAoksXbkoqc89xd9a8XSpzx3cs7M1QKoPCrm37oWM6g85whhWYljqDxUD6TPLpSoPJRgzEgIxag8ExX+8xb2',
  'qDzhc44EXCepPIqCNbLYWKk89LtAOY6KqTxdA8fafbypPFHp3dyo7qk8LVnQihAhqjyQxlY1tlOqPA/z0DKbhqo8emWB38C5qjz/',
  'rMqdKO2qPLWLbtbTIKs8QiXP+MNUqzy2TzJ7+oirPBAmB9t4vas8hf0tnUDyqzwt4EJOUyesPKSx6oKyXKw8+yMj2F+SrDxspZXz',
  'XMisPIBx7YOr/qw8rfIwQU01rTz+ox7tQ2ytPAqljVORo608fzXSSjfbrTybUCa0NxOuPFKkFnyUS648fyP0mk+Erjx4dkoVa72u',
  'PGiRW/zo9q48f7ygbsswrzzQXlGYFGuvPOXh77PGpa882AndCuTgrzzUEfl6Nw6wPBs5Ee80LLA8oySSnmtKsDzbJhHP3GiwPA+t',
  'Os+Jh7A8Gcgz93OmsDxvlACpnMWwPLfP71AF5bA8zu8LZq8EsTxKFZJqnCSxPCs6b+zNRLE8wQTEhUVlsTyerm/dBIaxPCB4oqcN',
  'p7E8Wip4pmHIsTxwM5uqAuqxPKL08JPyC7I8UOVPUjMusjy6O0DmxlCyPKbax2Gvc7I8K1NC6e6WsjxR20W0h7qyPHAtlg583rI8',
  'ZVkmWc4CszzQpyoLgSezPGXJO7OWTLM8VqiM+BFyszxDUTSc9ZezPIOLjXpEvrM80N6tjAHlszyt7vXpLwy0PPhCvcnSM7Q8LMkb',
  'he1btDwylNOYg4S0PEyhXaeYrbQ8J7EcezDXtDwIlbkITwG1PLKqrHH4K7U8Wqf4BjFXtTxhRBtM/YK1PAfhOPphr7U8nr2IA2Tc',
  'tTx5GAiXCAq2PJQueyRVOLY8MvTDYE9ntjzuSJdK/Za2PB57mi9lx7Y8ByX0sY34tjwY0lzOfSq3PMNxveI8Xbc8+XFrtdKQtzzT',
  'dhR9R8W3PBIUbumj+rc8w77ALPEwuDxCc2gGOWi4PKtbac6FoLg8lTY7guLZuDxEdfPSWhS5PA4q/DT7T7k82BqN8dCMuTzq2SQ6',
  '6sq5PHjxST5WCro8O0zoQyVLujzqhq3CaI26PMRF2IIz0bo8CrYDwJkWuzwP6pFQsV27PF7adtKRprs8d+9L3lTxuzyn4MJBFj68',
  'PPTIyEL0jLw8f6ny7A/evDzFOCdrjTG9POw77G+Uh708n/FOr1DgvTxgCRlu8ju+PMGD8yqvmr48SupQZ8L8vjyn95GXbmK/POXG',
  '9kP+y788Luxis+IcwDzvjvWLEVbAPE6ly83BkcA8oEhdeDHQwDymkkMDqBHBPCpEdWd4VsE81sKzvAOfwTx8+smgvOvBPJ+RWbYr',
  'PcI8papJrvWTwjzwEUSK4/DCPF73zCfuVMM8YbjIx07BwzxiE+RmlzfEPNFRR83XucQ89nPPPNhKxTzSE3Pheu7FPHK/S21nqsY8',
  'L8bq1lCHxzwZ7fLmn5PIPIV7SA3c6ck8/HHaUZ7DyzyDu34p2cnOPAAAAAAAAPA/NxGI5UUF7j/x/4FQptDsPyd763sA5es/Kn/m',
  'Dg8h6z/n+mKlunbqP5ttVRWX3uk/OapVxDFU6T8v0tN2o9ToP7jFBnjoXeg/JjEkLYru5z9+1AmbboXnP2NLqVu7Iec/xhiEScPC',
  '5j8GXE9t+mfmP2avp8HtEOY/daxMaT295T9zh9qCmGzlP5qJeBW6HuU/r/hRwWbT5D9p4I77aorkPyXhqK+ZQ+Q/gIuxK8v+4z8U',
  '0eFE3LvjP9ndCKeteuM/GGMORSM74z9e2kXjI/3iPyRPH7aYwOI/vTIREW2F4j+jUIwijkviP8g+gbrqEuI/iXuHGXPb4T8lOx7H',
  'GKXhP+5vzm3Ob+E/nBYzvIc74T+NwxxKOQjhPyseK4HY1eA/KtBUiFuk4D99O+4xuXPgP0hl0uvoQ+A/JPNgseIU4D92RSH+Pc3f',
  'P/rFv44tct8/TULr0YYY3z+QnZZLPcDeP1HTfTZFad4//DfhdZMT3j8MIaeIHb/dP3rtuX3Za90/Cxp+6b0Z3T+S4EDcwcjcP2D7',
  'g9nceNw/g6UO0AYq3D+17q4SONzbP4gLmVFpj9s/b4BUlJND2z9f7yg0sPjaP+X2/da4rto/QAGjaqdl2j/0IXUgdh3aP5I3Wmkf',
  '1tk/qHsJ8p2P2T8QgZqf7EnZPwRdVIwGBdk/OV23BOfA2D+MP7yEiX3YPzhhRLXpOtg/Wc62aQP51z8egMad0rfXP+NyXnNTd9c/',
  '6o2wMII31z+dnmQ+W/jWP5zp5CXbudY/nw3Gj/571j/kJ0hCwj7WP3ZY7x8jAtY/bO4xJh7G1T/vqTpssIrVP+ejvSHXT9U/9Yne',
  'jY8V1T8d+SYO19vUP9PaixWrotQ/776AKwlq1D/iQRjr7jHUP06hMAJa+tM/hbKrMEjD0z/vfbFHt4zTP93Q/CilVtM/NSQxxg8h',
  '0z9wQjkg9evSP2IirkZTt9I/KXZFVyiD0j/9dkd9ck/SP/9+C/EvHNI/2wl7917p0T9avJrh/bbRP4IZGQwLhdE/75Hi3oRT0T+6',
  'n7rMaSLRP2ym2VK48dA/M1OP+G7B0D8TPulOjJHQP9KQXfAOYtA/LHx5gPUy0D9qR5OrPgTQP1ST/0zSq88/fj6WXOdPzz+b4OgP',
  'uvTOP/JAWQBIms4/p4Mv1o5Azj85TyJIjOfNP7ju4xo+j80//TG0IKI3zT+f0PY4tuDMPwIYzk94isw/7q+5XeY0zD81RDln/t/L',
  'P6Xkcny+i8s/Pu/cuCQ4yz8LW+tCL+XKP0k8wEvckso/vFzfDipByj8SxeTRFvDJPyMWPuSgn8k/oZLmnsZPyT95uyVkhgDJP9Vi',
  'UJ/escg/+RqMxM1jyD/m55RQUhbIP64bhchqycc//kafuRV9xz85KBq5UTHHP+qE7mMd5sY/KNqmXnebxj+s0TBVXlHGPzFqsPrQ',
  'B8Y/tsJUCc6+xT/1eC5CVHbFP0mMB21iLsU/+rY8WPfmxD+WMJjYEaDEP8bMLcmwWcQ/mmo4C9MTxD8FqfiFd87DP8nVlCadicM/',
  'rwz630JFwz9ufb6qZwHDPzTPBIUKvsI/QJlgcip7wj946Lt7xjjCP2XKPa/d9sE/ZtYxIG+1wT94rvDmeXTBPy9xySD9M8E/IBfs',
  '7/fzwD8vtlR7abTAP76lt+5QdcA/BH9ueq02wD+N6sum/PC/PxQEGWaFdb8/PMODrvP6vj/MuY4ERoG+P/u6YfV6CL4/mJOtFpGQ',
  'vT/XTZEGhxm9P1f9gGtbo7w/rxAu9AwuvD+PJnFXmrm7P0hlNVQCRrs/ZVRlsUPTuj+3ONk9XWG6Pyj0RtBN8Lk/cGszRxSAuT+5',
  'dOWIrxC5PztTWoMeorg/usQ7LGA0uD/zpteAc8e3Px48GYZXW7c/thaESAvwtj8gtjDcjYW2P/feylzeG7Y/PruR7fuytT820Fm5',
  '5Uq1PynZkPKa47Q/XJhD0xp9tD8OsSWdZBe0P56fm5l3srM/GOfGGVNOsz/RjZR29uqyP3AFzhBhiLI/jJ0sUZImsj9Ao2+oicWx',
  'P5JTdY9GZbE/UMpWh8gFsT87G4cZD6ewPxfI9dcZSbA/dpZputDXrz806ESZ9B6vP+WyLqWeZ64/EFgxSc6xrT9KeR4Dg/2sP+kh',
  'B2S8Sqw/hdm+EHqZqz+EgGrCu+mqPzjxG0eBO6o/THx7gsqOqT9td4Bul+OoP2s5OhzoOag/ngirtLyRpz9Sr7Z5FeumP0GgJsfy',
  'RaY/ytLFE1WipT/rxZbyPAClPxlrJhSrX6Q//xj/R6DAoz+uFD9+HSOjPwzAVskjh6I/1BLzX7TsoT+hsxmf0FOhP1HWfAx6vKA/',
  '7voNWbImoD+QmK/H9iSfP2h0UXqu/50/DBszVJDdnD9wWPpQob6bP5tOkubmopo/SCoTD2eKmT9nmexTKHWYP5b8h9oxY5c/d0Ci',
  'cotUlj9RAqumPUmVP77wh85RQZQ/hF0xJdI8kz8yOrnhyTuSP19fclRFPpE/8AIeCVJEkD/Ox4ne/ZuOP1cnbhS5tow/LclCVfrY',
  'ij+9p49o6gKJP/V0qua2NIc/yxbkC5NuhT9ib1HBuLCDP3F2s+1p+4E/+ddfKfJOgD/FXXT6UVd9PzZIl9TpI3o/IDbsN58Edz/9',
  'IuPOl/pzP0NAV2k9B3E/EUvNgbNYbD///qHziNhmPySj4ahrlGE/JT4MVLUrWT+5/I33CrJPP0sLnzIcwz0/',
].join('')

const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0))
const view = new DataView(bytes.buffer)
const table = (index: number): Float64Array =>
  Float64Array.from({ length: 256 }, (_, i) => view.getFloat64((index * 256 + i) * 8, true))

/** [256] each. A draw below `threshold` is accepted immediately; `width` scales it to x; `height` is the density at x. */
export const normalTables = { threshold: table(0), width: table(1), height: table(2) }
export const exponentialTables = { threshold: table(3), width: table(4), height: table(5) }

/** Where the tail of the normal begins. */
const edge = 3.6541528853610088
const exponentialEdge = 7.69711747013105

/** The last output of `source` as a number in [0, 1), 53 bits. */
export function unitOf(output: Int32Array): number {
  return ((output[1] >>> 0) * 0x200000 + (output[0] >>> 11)) / 0x20000000000000
}

/** Standard normal by the ziggurat method with 256 strips (Marsaglia and Tsang 2000), in NumPy's order of draws. */
export function drawNormal(source: Pcg64Words): number {
  const { output } = source
  const { threshold, width, height } = normalTables
  for (;;) {
    source.next()
    // 8 bits choose the strip, the next one the sign, the other 52 the position in the strip.
    const strip = output[0] & 0xff
    const place = (output[1] & 0x1fffffff) * 0x800000 + (output[0] >>> 9)
    const x = output[0] & 0x100 ? -place * width[strip] : place * width[strip]
    if (place < threshold[strip]) return x
    // Reads the sign of the tail before further draws overwrite the output.
    if (strip === 0) return output[0] & 0x20000 ? -normalTail(source) : normalTail(source)
    if (height[strip] + (height[strip - 1] - height[strip]) * nextUnit(source) < Math.exp(-0.5 * x * x))
      return x
  }
}

function normalTail(source: Pcg64Words): number {
  for (;;) {
    const x = -Math.log1p(-nextUnit(source)) / edge
    const y = -Math.log1p(-nextUnit(source))
    if (y + y > x * x) return edge + x
  }
}

/** Exponential of rate 1, by the same method. */
export function drawExponential(source: Pcg64Words): number {
  const { output } = source
  const { threshold, width, height } = exponentialTables
  for (;;) {
    source.next()
    // 3 bits are unused, 8 choose the strip, 53 the position in it.
    const strip = (output[0] >>> 3) & 0xff
    const place = (output[1] >>> 0) * 0x200000 + (output[0] >>> 11)
    const x = place * width[strip]
    if (place < threshold[strip]) return x
    if (strip === 0) return exponentialEdge - Math.log1p(-nextUnit(source))
    if (height[strip] + (height[strip - 1] - height[strip]) * nextUnit(source) < Math.exp(-x)) return x
  }
}

function nextUnit(source: Pcg64Words): number {
  source.next()
  return unitOf(source.output)
}
